import type { Observations, Rows, RowValues, TableRows } from '../db/tables/rows.ts'
import { ENTRY_ROUTES } from '../job/entryRoutes.ts'
import { declaredRoute, type PlannedRequest } from '../job/plannedRequest.ts'
import { SchemaError } from '../util/errors.ts'
import { brief, isObject, type JsonObject, toPayload } from '../util/json.ts'
import { memoize } from '../util/memoize.ts'
import type { Instant } from '../util/time/instant.ts'
import { addUnits, floorTo, formatLocal } from '../util/time/zone.ts'
import { AS, type Fields, fieldsAs } from './fields.ts'
import { textColumns } from './plain.ts'
import {
  type CheckedPart,
  checkPart,
  collectRejects,
  joinRejects,
  NO_REJECTS,
  type RejectSummary,
  type Rejects,
} from './rejects.ts'
import { repeatedKeyText } from './repeatedKeys.ts'
import type { ParsedValues, ValueRules } from './values/collectValues.ts'
import { readValues } from './values/readValues.ts'
import { findSteps, guessStep, isGuessed, isUnit, statedId, stepsInParts } from './values/steps.ts'

const INDICATOR_FIELDS = { ...fieldsAs(AS.text, 'step_type'), ...fieldsAs(AS.flag, 'composited', 'disaggregated') }
const KNOWN_FIELDS = [
  'id',
  'name',
  'short_name',
  'description',
  ...Object.keys(INDICATOR_FIELDS),
  'magnitud',
  'tiempo',
  'geos',
  'values_updated_at',
  'values',
]

/** The elements of a list, to read their fields. Rejects elements that are not objects. */
const checkElements = (part: CheckedPart, key: string, rejects: Rejects): CheckedPart[] =>
  part.list(key).flatMap((element, i) => {
    const path = `${part.path}.${key}[${i}]`
    if (isObject(element)) return [checkPart(element, path, rejects, key === 'geos' ? 'geo_id' : 'id')]
    rejects.add(path, repeatedKeyText(element) ?? `${key} contains an element that is not an object`, element)
    return []
  })

const GEO_FIELDS = { id: ['geo_id', AS.integer], name: ['geo_name', AS.name] } as const satisfies Fields
const MAGNITUDE = { magnitude_id: ['id', AS.integer], magnitude: ['name', AS.text] } as const satisfies Fields
const UPDATED = { updated: ['values_updated_at', AS.name] } as const satisfies Fields
const PERIOD_FIELDS = { id: ['id', AS.integer] } as const satisfies Fields

/** The geos that the reply names in its list or its values. */
function geoRows(
  indicator: CheckedPart,
  names: ReadonlyMap<number, string>,
  planned: PlannedRequest,
  rejects: Rejects,
): TableRows[] {
  const geos = new Map(names)
  for (const geo of checkElements(indicator, 'geos', rejects)) {
    const { id, name } = geo.columns(GEO_FIELDS)
    if (typeof id === 'number' && typeof name === 'string') geos.set(id, name)
  }
  const level = planned.series?.geoTrunc ?? null
  return [
    { table: 'geo', rows: [...geos.keys()].map((id) => (level === null ? { id } : { id, level })) },
    { table: 'geo_text', rows: [...geos].map(([id, name]) => ({ id, locale: planned.locale, name })) },
  ]
}

function indicatorRows(indicator: CheckedPart, id: number, planned: PlannedRequest, rejects: Rejects): TableRows[] {
  const kind = planned.series?.kind ?? ENTRY_ROUTES.series
  const [magnitude] = checkElements(indicator, 'magnitud', rejects)
  const row: RowValues = {
    kind,
    id,
    ...indicator.columns(INDICATOR_FIELDS),
    ...magnitude?.columns(MAGNITUDE),
    ...toPayload(indicator.object, KNOWN_FIELDS),
  }
  const text = textColumns(indicator)
  return [
    { table: 'indicator', rows: [row], locale: planned.locale },
    {
      table: 'indicator_text',
      // No row without texts, because it would be a version that the first name revises.
      rows: Object.keys(text).length === 0 ? [] : [{ kind, id, locale: planned.locale, ...text }],
      keepsListed: true,
    },
  ]
}

/** Returns a function that says why a row is not at a border of the groups that were requested; undefined without groups. */
function findGroupingFault(zone: string, trunc: string | null): ((at: Instant) => string | undefined) | undefined {
  if (!isUnit(trunc)) return undefined
  const isBorder = memoize((at: Instant) => floorTo(zone, at, trunc) === at)
  return (at) => (isBorder(at) ? undefined : `${formatLocal(zone, at)} is not the start of a ${trunc}`)
}

/** Geos that a reject names. */
const MAX_GEOS = 10

/**
 * The reject of a reply about one instant that has only values of other times for some geos: their requested values are missing. Values of
 * other times are kept. A reply without any value for a geo says that the service has none, and is not a reject.
 */
function findOtherTimes(
  { timeZone, params, series }: PlannedRequest,
  root: string,
  { geoIds, at, steps, isStepGuessed = false }: Observations,
): RejectSummary {
  const rejects = collectRejects()
  const { datetime } = params
  if (typeof datetime !== 'number') return rejects.done()
  const findEnd = (i: number): Instant =>
    // The service may send a day without stating its resolution.
    isStepGuessed && floorTo(timeZone, at[i]!, 'day') === at[i]
      ? addUnits(timeZone, at[i]!, 'day', 1)
      : at[i]! + (typeof steps === 'number' ? steps : steps[i]!)
  const isRequested = (i: number): boolean => at[i]! <= datetime && datetime < findEnd(i)
  const complete = new Set(geoIds.filter((_, i) => isRequested(i)))
  const lacking = [...new Set(geoIds)].filter((geoId) => !complete.has(geoId))
  if (lacking.length === 0) return rejects.done()
  const more = lacking.length > MAX_GEOS ? ` and ${lacking.length - MAX_GEOS} more` : ''
  const named = `${lacking.slice(0, MAX_GEOS).join(', ')}${more}`
  const other = formatLocal(timeZone, at[geoIds.indexOf(lacking[0]!)]!)
  const requested = formatLocal(timeZone, datetime)
  rejects.add(
    `$.${root}.values`,
    `requested indicator ${series?.indicatorId} at ${requested}, but geo ${named} has only values of other times, such as ${other}`,
    { datetime: requested, geo_ids: lacking },
  )
  return rejects.done()
}

/** Which values of a reply to a request are legal. */
export const valueRules = (planned: PlannedRequest): ValueRules => ({
  window: planned.window,
  path: `$.${declaredRoute(planned).root}.values`,
  zone: planned.timeZone,
  findFault: findGroupingFault(planned.timeZone, planned.series?.timeTrunc ?? null),
})

/**
 * Transforms a reply of `/indicators/{id}` or `/offer_indicators/{id}`. Throws SchemaError if it has no list of values. `scanned`: the
 * values, if they were read from the bytes of the body; then its own list is empty.
 */
export function transformSeries(body: JsonObject, planned: PlannedRequest, scanned: ParsedValues | null): Rows {
  const { root } = declaredRoute(planned)
  // Recordings have one root key; any object with values is accepted.
  const indicator = body[root] ?? Object.values(body).find((part) => isObject(part) && 'values' in part)
  if (!isObject(indicator)) throw new SchemaError('The response has no field `indicator`.', { path: `$.${root}` })
  if (!Array.isArray(indicator.values)) throw new SchemaError('`values` is not a list.', { path: `$.${root}.values` })
  const requested = planned.series?.indicatorId ?? 0
  const sent = indicator.id ?? requested
  if (String(sent) !== String(requested))
    throw new SchemaError(`Requested indicator ${requested}, but the response contains indicator ${brief(sent)}.`, {
      path: `$.${root}.id`,
    })
  const trunc = planned.series?.timeTrunc ?? null
  const { observations, rows, outside, misplaced, geoNames, ...valueRejects } =
    scanned ?? readValues(indicator.values, valueRules(planned))
  const otherRejects = collectRejects()
  const part = checkPart(indicator, `$.${root}`, otherRejects)
  const { window, timeZone, service } = planned
  const length = window ? window.to - window.from : 0
  // The service ignored the grouping: even the rows at its borders are values of shorter periods.
  if (misplaced * 2 > rows)
    throw new SchemaError(
      `Requested values by ${trunc}, but ${misplaced} of ${rows} rows are not at the start of one.`,
      {
        path: `$.${root}.values`,
      },
    )
  const steps = findSteps(service.steps, timeZone, trunc, indicator.tiempo, observations, length)
  const isStepGuessed = trunc === null && isGuessed(service.steps, timeZone, indicator.tiempo, observations, steps)
  const { updated } = part.columns(UPDATED)
  for (const tiempo of checkElements(part, 'tiempo', otherRejects).slice(0, 1)) tiempo.columns(PERIOD_FIELDS)
  const eachStep = trunc === null && typeof steps === 'number' ? stepsInParts(timeZone, observations, steps) : steps
  // The resolution of a reply without values means nothing.
  const hasValues = observations.at.length > 0
  const stepped = isStepGuessed
    ? { ...observations, steps: guessStep(timeZone, observations, steps), isStepGuessed }
    : { ...observations, steps: eachStep }
  const otherTimes = window ? NO_REJECTS : findOtherTimes(planned, root, stepped)
  return {
    observations: stepped,
    tables: [
      ...indicatorRows(part, requested, planned, otherRejects),
      ...geoRows(part, geoNames, planned, otherRejects),
    ],
    owned: [],
    listing: null,
    // Rejects of values first, because they decide whether the window is unverified.
    ...joinRejects(joinRejects(otherTimes, valueRejects), otherRejects.done()),
    stepS: hasValues && typeof steps === 'number' ? steps : null,
    resolutionId: hasValues ? statedId(indicator.tiempo) : null,
    sourceUpdatedAt: typeof updated === 'string' ? updated : null,
    outside,
    isEmpty: rows === 0,
  }
}
