/** The files that matter most, each with the tests that are to notice every change of it; quick ones, for each runs hundreds of times. */
export const FILES: Readonly<Record<string, readonly string[]>> = {
  'src/base/time/instant.ts': ['test/base/time/time.test.ts'],
  'src/base/time/interval.ts': ['test/base/time/interval.test.ts'],
  'src/base/time/zone.ts': ['test/base/time/time.test.ts', 'test/base/time/zones.test.ts'],
  'src/transform/values/scan.ts': ['test/transform/scan.test.ts'],
  'src/services/request.ts': ['test/services/request.test.ts'],
  'src/job/moment.ts': ['test/base/time/time.test.ts', 'test/job/read.test.ts', 'test/job/moment.test.ts'],
  'src/plan/windows.ts': ['test/plan/windows.test.ts'],
  'src/plan/held.ts': ['test/plan/held.test.ts'],
  'src/transform/values/values.ts': ['test/transform/values.test.ts'],
  'src/load/coverage/decideCoverage.ts': ['test/load/coverage.test.ts'],
  'src/load/coverage/decideAbsences.ts': ['test/load/coverage.test.ts'],
}
