import { brief } from '../../util/json.ts'
import { quantity } from '../../util/text.ts'
import { formatUtc } from '../../util/time/instant.ts'
import { MAGNITUDES } from '../magnitudes.ts'
import { STEPS } from '../resolutions.ts'
import { type Assumption, type ProbeResponse, type Responses, seriesIn, unknown, verdict } from './assumption.ts'
import {
  CLOCK_CHANGE,
  DAY,
  PORTUGAL,
  PROBE_REQUESTS,
  REQUEST_NAMES,
  SECOND_QUARTER,
  SPAIN,
  WIND_CHANGE,
} from './probeRequests.ts'

const RECORDED = 'Recorded responses'
const CLIENTS = 'Other clients of the service'
const SPECIFICATION = 'The specification'

/** Values are rounded to two digits after the point. */
const isNear = (a: unknown, b: number): boolean =>
  typeof a === 'number' && Math.abs(a - b) <= 0.02 + 0.001 * Math.abs(b)
const rounded = (value: number): string => value.toFixed(2)
const timeText = (at: number): string => (Number.isNaN(at) ? 'an unreadable time' : formatUtc(at))

/** The earliest and the latest of many times. */
const extent = (times: readonly number[]): readonly [number, number] => [
  times.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
  times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY),
]
const distinct = <T>(items: readonly T[]): T[] => [...new Set(items)]
const timesIn = (response: ProbeResponse): number[] => distinct(seriesIn(response).values.map(({ at }) => at))
const geosIn = (response: ProbeResponse): number[] =>
  distinct(seriesIn(response).values.map(({ geo }) => geo ?? 0)).sort((a, b) => a - b)

/** The sum and the average of all quarter-hours within [from, to); null if one is missing or is not a number. */
function quarters(response: ProbeResponse, from: number, to: number) {
  const values = seriesIn(response)
    .values.filter(({ at, geo }) => at >= from && at < to && (geo ?? SPAIN) === SPAIN)
    .flatMap(({ value }) => (typeof value === 'number' ? [value] : []))
  const sum = values.reduce((total, value) => total + value, 0)
  return values.length === (to - from) / 900 ? { sum, average: sum / values.length } : null
}
const INCOMPLETE = unknown('request day: quarter-hours are missing')

/** Judges the value of a day by the sum and the average of its quarter-hours. */
function judgeDay(day: ProbeResponse, total: ProbeResponse, expected: 'sum' | 'average') {
  const value = seriesIn(total).values[0]?.value
  const native = quarters(day, DAY.from, DAY.to)
  if (!native) return INCOMPLETE
  const { sum, average } = native
  const other = isNear(value, average) ? 'the average' : 'neither sum nor average'
  const seen = isNear(value, sum) ? 'the sum' : other
  const facts = `sum ${rounded(sum)}, average ${rounded(average)}`
  return verdict(isNear(value, native[expected]), `${seen}: ${brief(value)} (${facts})`)
}

/** Judges whether a window over a change of resolution has hourly values with the id of sums; null without a change. */
function judgeChange(response: ProbeResponse, changeAt: number) {
  const { step } = seriesIn(response)
  const times = timesIn(response)
  const before = times.filter((at) => at < changeAt)
  const after = times.filter((at) => at >= changeAt)
  const isHourly = (times: readonly number[]) => times.every((at) => at % 3_600 === 0)
  if (before.length === 0 || after.length === 0 || !isHourly(before)) return null
  if (!isHourly(after)) return verdict(false, 'hours and quarter-hours in one response')
  return verdict(step === STEPS.coarse, `hours with resolution id ${step}`)
}

/** Judges the instants of values. */
function judgeTimes(response: ProbeResponse, first: number, last: number) {
  const times = timesIn(response)
  const [from, to] = extent(times)
  const seen = from === to ? `values at ${timeText(from)}` : `values from ${timeText(from)} to ${timeText(to)}`
  return verdict(from === first && to === last, seen)
}

const seriesRequests = REQUEST_NAMES.filter((name) => {
  const request = PROBE_REQUESTS[name]
  return 'route' in request && request.route === 'indicator' && name !== 'missing'
})

const unitOf = (magnitude: number | null): string => MAGNITUDES.find(({ id }) => id === magnitude)?.unit ?? 'unknown'

/** The assumptions about the values of indicators. */
export const SERIES_ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'end-included',
    expected: '`end_date` belongs to the window.',
    certainty: 'known',
    source: RECORDED,
    requests: ['day'],
    matters: false,
    consequence: 'Nothing changes: windows end a second before the next period.',
    judge: ({ day }) => {
      const [, last] = extent(timesIn(day))
      return verdict(last === DAY.to, `last value at ${timeText(last)}`)
    },
  },
  {
    id: 'zoned-dates',
    expected: 'Dates with an offset are instants, also in the repeated hour of a clock change.',
    certainty: 'inferred',
    source: SPECIFICATION,
    requests: ['zoned'],
    matters: false,
    consequence: 'Nothing changes: dates of series are sent in UTC.',
    judge: ({ zoned }) => judgeTimes(zoned, CLOCK_CHANGE.from, CLOCK_CHANGE.to - 900),
  },
  {
    id: 'naive-dates',
    expected: 'Dates without an offset are local: a day is its midnight in Madrid.',
    certainty: 'claimed',
    source: CLIENTS,
    requests: ['naive'],
    matters: false,
    consequence: 'Nothing changes: the program sends no such dates.',
    judge: ({ naive }) => judgeTimes(naive, DAY.from, DAY.from + 3_300),
  },
  {
    id: 'clock-change',
    expected: '`datetime` and `tz_time` are the same instant, also in the hour after clocks go back.',
    certainty: 'known',
    source: RECORDED,
    requests: ['zoned'],
    matters: true,
    consequence: 'Rows whose two times differ are quarantined. Do not use that day before the cause is known.',
    judge: ({ zoned }) => {
      const { values } = seriesIn(zoned)
      const differing = values.filter(({ at, utc }) => at !== utc).length
      return verdict(differing === 0, `${differing} of ${values.length} values have two different times`)
    },
  },
  {
    id: 'datetime-alone',
    expected: '`datetime` without a range returns only the value of that time.',
    certainty: 'guessed',
    source: SPECIFICATION,
    requests: ['instant'],
    matters: true,
    consequence: 'Other values are ignored, and `check` lists the entry. Use `window` instead of `datetime` in jobs.',
    judge: ({ instant }) => judgeTimes(instant, SECOND_QUARTER, SECOND_QUARTER),
  },
  {
    id: 'datetime-in-range',
    expected: '`datetime` takes precedence over a range.',
    certainty: 'guessed',
    source: 'No source',
    requests: ['both'],
    matters: false,
    consequence: 'Nothing changes: the program never sends both.',
    judge: ({ both }) => judgeTimes(both, SECOND_QUARTER, SECOND_QUARTER),
  },
  {
    id: 'sum-by-default',
    expected: '`time_trunc` without `time_agg` sums.',
    certainty: 'known',
    source: 'Recorded responses and the specification',
    requests: ['day', 'sums'],
    matters: false,
    consequence: 'Nothing changes: a job must state `timeAgg`, which is always sent.',
    judge: ({ day, sums }) => judgeDay(day, sums, 'sum'),
  },
  {
    id: 'average',
    expected: '`time_agg=average` returns averages.',
    certainty: 'known',
    source: SPECIFICATION,
    requests: ['day', 'average'],
    matters: true,
    consequence: 'Other values are stored as averages. Do not use `timeAgg: average`; the daily view has averages.',
    judge: ({ day, average }) => judgeDay(day, average, 'average'),
  },
  {
    id: 'avg',
    expected: '`time_agg=avg` means the same as `average`.',
    certainty: 'claimed',
    source: 'Examples of the specification',
    requests: ['day', 'avg'],
    matters: false,
    consequence: 'Nothing changes: jobs may use `avg`, which is sent as `average`.',
    judge: ({ day, avg }) => judgeDay(day, avg, 'average'),
  },
  {
    id: 'period-start',
    expected: 'The time of a truncated value is the local start of its period.',
    certainty: 'inferred',
    source: CLIENTS,
    requests: ['sums'],
    matters: true,
    consequence: 'Truncated values are stored at other times or ignored. Do not use `timeTrunc`.',
    judge: ({ sums }) => judgeTimes(sums, DAY.from, DAY.from),
  },
  {
    id: 'mixed-resolutions',
    expected: `A window over a change of resolution returns hourly sums with resolution id ${STEPS.coarse}.`,
    certainty: 'known',
    source: 'One recorded response',
    requests: ['day', 'change', 'energy'],
    matters: true,
    consequence: 'Windows are split at announced changes only. `restate` the days around any other change, one by one.',
    judge: ({ day, change, energy }) => {
      const found = judgeChange(change, DAY.from)
      if (found?.verdict !== 'holds')
        return found ?? judgeChange(energy, WIND_CHANGE) ?? unknown('the history has one resolution by now')
      const first = seriesIn(change).values.find(({ at }) => at === DAY.from)?.value
      const native = quarters(day, DAY.from, DAY.from + 3_600)
      if (!native) return INCOMPLETE
      const seen = `${found.seen}: ${brief(first)} (sum ${rounded(native.sum)})`
      return verdict(isNear(first, native.sum), seen)
    },
  },
  {
    id: 'resolution-ids',
    expected: '`tiempo` has id 218 for quarter-hours and 4 for hours.',
    certainty: 'known',
    source: RECORDED,
    requests: ['day', 'retail'],
    matters: true,
    consequence:
      'The length of a new id is found in the values of one day. A known id with another meaning is not noticed.',
    judge: ({ day, retail }) => {
      const quarter = seriesIn(day).step
      const hour = seriesIn(retail).step
      const isRight = STEPS.byNumber[quarter ?? 0] === 900 && STEPS.native.includes(hour ?? 0)
      return verdict(isRight, `quarter-hours ${quarter}, hours ${hour}`)
    },
  },
  {
    id: 'magnitude-ids',
    expected: '`magnitud` has id 23 for prices in €/MWh, 13 for energies in MWh and 20 for powers in MW.',
    certainty: 'claimed',
    source: 'Recorded responses for 23 and 13, other clients for 20',
    requests: ['day', 'energy', 'naive'],
    matters: true,
    consequence: 'The unit of a new id is the name of its quantity. A known id with another meaning gets a wrong unit.',
    judge: ({ day, energy, naive }) => {
      const ids = [day, energy, naive].map((response) => seriesIn(response).magnitude)
      return verdict(ids.map(unitOf).join() === '€/MWh,MWh,MW', `price ${ids[0]}, energy ${ids[1]}, power ${ids[2]}`)
    },
  },
  {
    id: 'geo-ids',
    expected: '`geo_ids[]` limits values to these geos, one or several.',
    certainty: 'known',
    source: 'Recorded responses and the specification',
    requests: ['day', 'zoned'],
    matters: true,
    consequence: 'Other geos are stored too, or selected ones are missing. Omit `geoIds` in jobs.',
    judge: ({ day, zoned }) => {
      const one = geosIn(day).join()
      const two = geosIn(zoned).join()
      return verdict(one === `${SPAIN}` && two === `${PORTUGAL},${SPAIN}`, `geo ${one} for one, ${two} for two`)
    },
  },
  {
    id: 'geo-agg',
    expected: '`geo_agg` alone keeps each geo, named by a list `geo_ids` with one id.',
    certainty: 'claimed',
    source: CLIENTS,
    requests: ['retail', 'grouped'],
    matters: true,
    consequence: 'Values without such a list are stored without a geo. Do not use `geoAgg`.',
    judge: ({ retail, grouped }) => {
      const groups = distinct(seriesIn(grouped).values.map(({ geoIds }) => (geoIds ? brief(geoIds) : 'none')))
      const isRight =
        groups.sort().join() ===
        geosIn(retail)
          .map((geo) => `[${geo}]`)
          .sort()
          .join()
      return verdict(isRight, `lists ${groups.join(', ')}`)
    },
  },
  {
    id: 'geo-trunc',
    expected: '`geo_trunc=country` with `geo_agg=sum` returns one sum for each hour and country.',
    certainty: 'inferred',
    source: SPECIFICATION,
    requests: ['retail', 'country'],
    matters: true,
    consequence: 'Values are stored as the service groups them. Do not use `geoTrunc`.',
    judge: ({ retail, country }) => {
      const sum = seriesIn(retail).values.reduce(
        (total, { at, value }) => total + (at === DAY.from && typeof value === 'number' ? value : 0),
        0,
      )
      const first = seriesIn(country).values.filter(({ at }) => at === DAY.from)
      const seen = `${quantity(first.length, 'value')} for an hour, the first ${brief(first[0]?.value)} (sum ${rounded(sum)})`
      return verdict(first.length === 1 && isNear(first[0]?.value, sum), seen)
    },
  },
  {
    id: 'unknown-indicator',
    expected: 'An indicator that does not exist has status 404.',
    certainty: 'guessed',
    source: 'No source',
    requests: ['missing'],
    matters: true,
    consequence:
      'Status 200 is stored as no values, 403 ends runs as a refused key, and 5xx is repeated. Check ids in jobs.',
    isAboutStatus: true,
    judge: ({ missing }) => {
      const { status } = missing
      if (status === 429) return unknown('status 429')
      const { length } = seriesIn(missing).values
      return verdict(status === 404, `status ${status}${status === 200 ? ` with ${quantity(length, 'value')}` : ''}`)
    },
  },
  {
    id: 'unknown-geo',
    expected: 'A geo that does not exist has status 200 without values.',
    certainty: 'guessed',
    source: 'Empty windows of recorded responses',
    requests: ['nowhere'],
    matters: true,
    consequence: 'A refusal fails all geos of the request. Values of other geos are stored. Check `geoIds` in jobs.',
    judge: ({ nowhere }) => {
      const { length } = seriesIn(nowhere).values
      return verdict(length === 0, `status 200 with ${quantity(length, 'value')}`)
    },
  },
  {
    id: 'null-values',
    expected: '`value` is always a number.',
    certainty: 'known',
    source: '1,205 recorded values',
    requests: seriesRequests,
    matters: false,
    consequence: 'A null is stored as a null; any other value is quarantined.',
    judge: (responses) => {
      const values = seriesRequests.flatMap((name) => seriesIn(responses[name]).values)
      const others = values.filter(({ value }) => typeof value !== 'number').length
      return verdict(others === 0, `${others} of ${values.length} values are not numbers`)
    },
  },
  {
    id: 'updated-at',
    expected: '`values_updated_at` is a time, and null without values.',
    certainty: 'known',
    source: RECORDED,
    requests: ['day', 'nowhere'],
    matters: false,
    consequence: 'The column is null or keeps the text. Syncs do not rely on it.',
    judge: ({ day, nowhere }: Responses) => {
      const updated = seriesIn(day).updated
      const none = seriesIn(nowhere).updated
      const isTime = typeof updated === 'string' && !Number.isNaN(Date.parse(updated))
      return verdict(isTime && none === null, `${brief(updated)}, without values ${brief(none)}`)
    },
  },
  {
    id: 'list-of-geos',
    expected: 'The list `geos` names exactly the geos of the values.',
    certainty: 'inferred',
    source: RECORDED,
    requests: ['retail'],
    matters: false,
    consequence: 'Nothing changes: names come from the list and from the values.',
    judge: ({ retail }) => {
      const listed = [...seriesIn(retail).geos].sort((a, b) => (a ?? 0) - (b ?? 0)).join()
      const used = geosIn(retail).join()
      return verdict(listed === used, `list ${listed || 'empty'}, values ${used}`)
    },
  },
  {
    id: 'languages',
    expected: '`locale=en` translates names and leaves ids unchanged.',
    certainty: 'known',
    source: SPECIFICATION,
    requests: ['retail', 'grouped'],
    matters: false,
    consequence: 'The texts of both languages are equal.',
    judge: ({ retail, grouped }) => {
      const es = seriesIn(retail)
      const en = seriesIn(grouped)
      return verdict(es.id === en.id && es.name !== en.name, `${brief(es.name)}, ${brief(en.name)}`)
    },
  },
]
