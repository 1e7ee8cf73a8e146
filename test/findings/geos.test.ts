import { expect, test } from 'vitest'
import { FINDING_KINDS } from '../../src/findings/finding.ts'
import { kindRules } from '../../src/findings/kinds.ts'
import type { Trouble } from '../../src/findings/trouble.ts'
import { listAllNames } from '../../src/findings/words.ts'

const about = { sinceAt: null, jobIds: [], seriesIds: [1], cause: null }
const series = { series_id: 1, kind: 'indicator', indicator_id: 600, time_trunc: null, geo_agg: null } as const
const range = { from: 0, to: 3600 }
const geos = { ...series, geoIds: [3, 8741], timeZone: 'Europe/Madrid', range }
const missing = { ...geos, count: 1, periods: 1, seconds: 3600, sinceAt: 0, nextAt: null, jobId: null }
const lacking = { ...series, stored: [], elsewhere: [], job: null, jobId: null, sinceAt: null }
const days = { ...geos, days: ['2025-10-01', '2025-10-02'], count: 2 } as const
const change = { ...geos, at: '2025-10-01', oldStepS: 900, newStepS: 3600, sinceAt: 0 }

/** A trouble of each kind that is about geos. */
const TROUBLES: readonly Trouble[] = [
  { kind: 'geo', lacking: { ...lacking, geoIds: [3, 8741] }, ...about },
  { kind: 'no values', lacking: { ...lacking, geoIds: [] }, ...about },
  { kind: 'late', gaps: [{ ...missing, reason: 'late' }], ...about },
  { kind: 'gap', gaps: [{ ...missing, reason: 'absent' }], ...about },
  { kind: 'off the grid', days, ...about },
  { kind: 'ahead', ahead: { ...geos, usualS: 0 }, ...about },
  { kind: 'cadence changed', change, ...about },
  { kind: 'overlap', days, ...about },
  { kind: 'out of range', subject: 'indicator 600', what: 'geo 3: 2000000000', geoIds: [3, 8741], ...about },
  { kind: 'daily totals', timeline: { ...series, geo_id: 3 }, dates: ['2025-10-01'], ...about },
]

/** The geos anywhere in the facts of a trouble. */
function geosInFacts(facts: unknown): number[] {
  if (typeof facts !== 'object' || facts === null) return []
  return Object.entries(facts).flatMap(([key, value]) =>
    key === 'geoIds' || key === 'geo_id' ? [value].flat() : geosInFacts(value),
  )
}

test.each(TROUBLES.map((trouble) => [trouble.kind, trouble] as const))(
  'a finding of kind %s lists all its geos, also those that its message names',
  (_kind, trouble) => {
    const rules = kindRules(trouble)
    const geoIds = rules.geoIds!(trouble)
    expect(geoIds).toEqual(geosInFacts(trouble))
    const context = { toCommand: String, listNames: listAllNames, now: 0, nextRuns: new Map() }
    const [, named = ''] = /\bgeos? (\d+(?:, \d+)*)/.exec(rules.message(trouble, context)) ?? []
    expect(named === '' ? [] : named.split(', ').map(Number)).toEqual(geoIds.slice(0, named.split(', ').length))
  },
)

test('the kinds that list geos are those with a trouble above', () => {
  const listing = FINDING_KINDS.filter((kind) => kindRules({ kind }).geoIds !== null)
  expect(listing).toEqual(TROUBLES.map(({ kind }) => kind))
})

test('gaps of several series list each geo once', () => {
  const gap: Trouble = {
    kind: 'gap',
    gaps: [missing, { ...missing, geoIds: [3, 4] }].map((gap) => ({ ...gap, reason: 'never requested' })),
    ...about,
  }
  expect(kindRules(gap).geoIds!(gap)).toEqual([3, 8741, 4])
})
