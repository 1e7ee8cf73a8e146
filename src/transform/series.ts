import type { Rows, RowValues, TableRows } from '../db/tables/rows.ts'
import { ENTRY_ROUTES } from '../job/entryRoutes.ts'
import { declaredRoute, type PlannedRequest } from '../job/plannedRequest.ts'
import { SchemaError } from '../util/errors.ts'
import { brief, isObject, type JsonObject, toPayload } from '../util/json.ts'
import { AS, type Fields } from './fields.ts'
import { bounded } from './flood.ts'
import { textColumns } from './plain.ts'
import { type CheckedPart, checkPart, gatherRejects, joinRejected, type Rejects } from './rejects.ts'
import { readValues, type Values } from './values/readValues.ts'
import { claimedId, guessStep, isGuessed, stepsInParts, stepsOf } from './values/steps.ts'

const KNOWN = [
  'name',
  'short_name',
  'description',
  'id',
  'composited',
  'step_type',
  'disaggregated',
  'magnitud',
  'tiempo',
  'geos',
  'values_updated_at',
  'values',
]

/** The elements of a list, each to be read field by field; whatever is not an object is rejected. */
const checkElements = (part: CheckedPart, key: string, rejects: Rejects): CheckedPart[] =>
  part.list(key).flatMap((element, i) => {
    const path = `${part.path}.${key}[${i}]`
    if (isObject(element)) return [checkPart(element, path, rejects, key === 'geos' ? 'geo_id' : 'id')]
    rejects.add(path, `${key} contains an element that is not an object`, element)
    return []
  })

const GEO_FIELDS = { id: ['geo_id', AS.integer], name: ['geo_name', AS.name] } as const satisfies Fields
const INDICATOR_FIELDS = {
  step_type: ['step_type', AS.text],
  composited: ['composited', AS.flag],
  disaggregated: ['disaggregated', AS.flag],
} as const satisfies Fields
const MAGNITUDE = { magnitude_id: ['id', AS.integer], magnitude: ['name', AS.text] } as const satisfies Fields
const UPDATED = { updated: ['values_updated_at', AS.name] } as const satisfies Fields
const PERIOD_FIELDS = { id: ['id', AS.integer] } as const satisfies Fields

/** The geos that the answer names, in its list or in its values. */
function geoRows(
  indicator: CheckedPart,
  names: ReadonlyMap<number, string>,
  planned: PlannedRequest,
  rejects: Rejects,
): TableRows[] {
  const all = new Map(names)
  for (const geo of checkElements(indicator, 'geos', rejects)) {
    const { id, name } = geo.columns(GEO_FIELDS)
    if (typeof id === 'number' && typeof name === 'string') all.set(id, name)
  }
  const level = planned.series?.geoTrunc ?? null
  return [
    { table: 'geo', rows: [...all.keys()].map((id) => (level === null ? { id } : { id, level })) },
    { table: 'geo_text', rows: [...all].map(([id, name]) => ({ id, locale: planned.locale, name })) },
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
    ...toPayload(indicator.object, KNOWN),
  }
  const text = textColumns(indicator)
  return [
    { table: 'indicator', rows: [row], locale: planned.locale },
    {
      table: 'indicator_text',
      // Without any text there is no row: one of nulls would be a version, which the first name then revises.
      rows: Object.keys(text).length === 0 ? [] : [{ kind, id, locale: planned.locale, ...text }],
      when: 'unlisted',
    },
  ]
}

/**
 * The rows of an answer of `/indicators/{id}` or `/offer_indicators/{id}`. Throws SchemaError where it has no list of values.
 * `scanned`: the values, where they were read from the bytes already and the list in the body is empty.
 */
export function transformSeries(body: JsonObject, planned: PlannedRequest, scanned?: Values): Rows {
  const { root } = declaredRoute(planned)
  // Only one root key is known from recordings; any object with values is accepted.
  const indicator = body[root] ?? Object.values(body).find((part) => isObject(part) && 'values' in part)
  if (!isObject(indicator)) throw new SchemaError('The response has no field `indicator`.', { path: `$.${root}` })
  if (!Array.isArray(indicator.values)) throw new SchemaError('`values` is not a list.', { path: `$.${root}.values` })
  const requested = planned.series?.indicatorId ?? 0
  const answered = indicator.id ?? requested
  if (String(answered) !== String(requested))
    throw new SchemaError(`Requested indicator ${requested}, but the response contains indicator ${brief(answered)}.`, {
      path: `$.${root}.id`,
    })
  const { observations, rows, outside, geoNames, ...ofValues } =
    scanned ?? readValues(indicator.values, planned.window, root)
  const beside = gatherRejects()
  const part = checkPart(indicator, `$.${root}`, beside)
  const { window, timeZone, service } = planned
  const length = window ? window.to - window.from : 0
  const trunc = planned.series?.timeTrunc ?? null
  const steps = stepsOf(service.steps, timeZone, trunc, indicator.tiempo, observations, length)
  const guessed = trunc === null && isGuessed(service.steps, timeZone, indicator.tiempo, observations, steps)
  const { updated } = part.columns(UPDATED)
  for (const tiempo of checkElements(part, 'tiempo', beside).slice(0, 1)) tiempo.columns(PERIOD_FIELDS)
  const eachStep = trunc === null && typeof steps === 'number' ? stepsInParts(timeZone, observations, steps) : steps
  // The resolution that an answer without values states means nothing.
  const has = observations.at.length > 0
  return bounded({
    observations: guessed
      ? { ...observations, steps: guessStep(timeZone, observations, steps), guessed }
      : { ...observations, steps: eachStep },
    tables: [...indicatorRows(part, requested, planned, beside), ...geoRows(part, geoNames, planned, beside)],
    owned: [],
    listing: null,
    // Those of values first: they decide whether the window is unverified.
    ...joinRejected(ofValues, beside.done()),
    stepS: has && typeof steps === 'number' ? steps : null,
    resolutionId: has ? claimedId(indicator.tiempo) : null,
    sourceUpdatedAt: typeof updated === 'string' ? updated : null,
    outside,
    empty: rows === 0,
  })
}
