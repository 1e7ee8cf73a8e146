import { ShapeError } from '../base/errors.ts'
import { flagOf, integerOf, isObject, type JsonObject, listOf, restOf, textOf } from '../base/json.ts'
import type { Ask } from '../job/ask.ts'
import type { Rows, RowValues, TableRows } from '../tables/rows.ts'
import { plainText } from './plain.ts'
import { bucketSeconds, claimedId, claimedStep, isUnit } from './steps.ts'
import { readValues, smallestDistance, type Values } from './values.ts'

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

/** One hour: what is believed of the length of a period when neither the answer nor its rows tell it. */
const DEFAULT_STEP = 3600

/** The length of the periods: by the bucket asked for, by what the answer claims, else by the rows themselves. */
function stepsOf(ask: Ask, claimed: number | null, observations: Values['observations']): number | number[] {
  const trunc = ask.series?.timeTrunc ?? null
  if (isUnit(trunc)) {
    const steps = observations.at.map((at) => bucketSeconds(ask.timeZone, at, trunc))
    return steps.every((step) => step === steps[0]) ? (steps[0] ?? DEFAULT_STEP) : steps
  }
  return claimed ?? smallestDistance(observations) ?? DEFAULT_STEP
}

/** Geos that the answer names, in its list or on its values. */
function geoRows(indicator: JsonObject, names: ReadonlyMap<number, string>, ask: Ask): TableRows[] {
  const all = new Map(names)
  for (const geo of listOf(indicator.geos)) {
    if (!isObject(geo)) continue
    const id = integerOf(geo.geo_id)
    const name = textOf(geo.geo_name)
    if (id !== null && name !== null) all.set(id, name)
  }
  const level = ask.series?.geoTrunc ?? null
  return [
    { table: 'geo', rows: [...all.keys()].map((id) => (level === null ? { id } : { id, level })) },
    { table: 'geo_text', rows: [...all].map(([id, name]) => ({ id, locale: ask.locale, name })) },
  ]
}

function indicatorRows(indicator: JsonObject, id: number, ask: Ask): TableRows[] {
  const kind = ask.series?.kind ?? 'indicator'
  const [magnitude] = listOf(indicator.magnitud)
  const payload = restOf(indicator, KNOWN)
  const row: RowValues = {
    kind,
    id,
    step_type: textOf(indicator.step_type),
    composited: flagOf(indicator.composited),
    disaggregated: flagOf(indicator.disaggregated),
    magnitude_id: isObject(magnitude) ? integerOf(magnitude.id) : null,
    magnitude: isObject(magnitude) ? textOf(magnitude.name) : null,
    ...(payload === null ? {} : { payload }),
  }
  const description = textOf(indicator.description)
  const text: RowValues = {
    kind,
    id,
    locale: ask.locale,
    name: textOf(indicator.name),
    short_name: textOf(indicator.short_name),
    ...(description === null ? {} : { description, description_text: plainText(description) }),
  }
  return [
    { table: 'indicator', rows: [row] },
    { table: 'indicator_text', rows: [text], when: 'unlisted' },
  ]
}

/**
 * An answer of `/indicators/{id}` or `/offer_indicators/{id}` as rows. Throws ShapeError when there are no values to read.
 * `scanned`: the values, where they were read from the bytes and an empty list stands in their place.
 */
export function transformSeries(body: JsonObject, ask: Ask, scanned?: Values): Rows {
  // Only one recorded root is known; whatever holds values is taken for the series.
  const indicator = body.indicator ?? Object.values(body).find((part) => isObject(part) && 'values' in part)
  if (!isObject(indicator)) throw new ShapeError('The answer has no indicator.', { path: '$.indicator' })
  if (!Array.isArray(indicator.values)) throw new ShapeError('values is no list.', { path: '$.indicator.values' })
  const asked = ask.series?.indicatorId ?? 0
  const id = integerOf(indicator.id) ?? asked
  if (id !== asked)
    throw new ShapeError(`Indicator ${asked} was asked, ${id} was answered.`, { path: '$.indicator.id' })
  const { observations, rejects, rows, outside, geoNames } = scanned ?? readValues(indicator.values, ask.window)
  const claimed = claimedStep(indicator.tiempo)
  const steps = stepsOf(ask, claimed, observations)
  return {
    observations: { ...observations, steps },
    tables: [...indicatorRows(indicator, id, ask), ...geoRows(indicator, geoNames, ask)],
    owned: [],
    listing: null,
    rejects,
    stepS: claimed ?? (typeof steps === 'number' && observations.at.length > 0 ? steps : null),
    resolutionId: claimedId(indicator.tiempo),
    sourceUpdatedAt: textOf(indicator.values_updated_at),
    outside,
    empty: rows === 0,
  }
}
