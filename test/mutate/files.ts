/**
 * The most important files, each with fast tests that must notice every change, because each runs hundreds of times.
 */
export const FILES: Readonly<Record<string, readonly string[]>> = {
  'src/util/time/instant.ts': ['test/util/time/time.test.ts'],
  'src/util/time/interval.ts': ['test/util/time/interval.test.ts'],
  'src/util/time/zone.ts': ['test/util/time/time.test.ts', 'test/util/time/zones.test.ts'],
  'src/service/request.ts': ['test/service/request.test.ts'],
  'src/job/moment.ts': ['test/util/time/time.test.ts', 'test/job/read.test.ts', 'test/job/moment.test.ts'],
  'src/plan/windows.ts': ['test/plan/windows.test.ts'],
  'src/plan/freshness.ts': ['test/plan/freshness.test.ts'],
  'src/transform/values/readValues.ts': ['test/transform/values.test.ts'],
  'src/load/coverage/decideCoverage.ts': ['test/load/coverage.test.ts'],
  'src/load/timelines/decideMissing.ts': ['test/load/decideMissing.test.ts'],
  'src/judge/judge.ts': ['test/judge/judge.test.ts', 'test/judge/judgeProperties.test.ts'],
  'src/judge/judgeCoverage.ts': ['test/judge/judge.test.ts', 'test/judge/judgeProperties.test.ts'],
  'src/judge/judgeUncovered.ts': ['test/judge/judge.test.ts', 'test/judge/judgeProperties.test.ts'],
  'src/judge/judgeMissing.ts': ['test/judge/judge.test.ts', 'test/judge/judgeProperties.test.ts'],
  'src/judge/judgeEnd.ts': ['test/judge/judge.test.ts', 'test/judge/judgeProperties.test.ts'],
  'src/judge/accept.ts': ['test/judge/judge.test.ts', 'test/judge/judgeProperties.test.ts'],
  'src/judge/spans.ts': ['test/judge/judge.test.ts', 'test/judge/judgeProperties.test.ts'],
  'src/judge/finality.ts': ['test/judge/judge.test.ts', 'test/plan/freshness.test.ts'],
  'src/judge/cadence.ts': ['test/judge/cadence.test.ts'],
  'src/judge/grid.ts': ['test/judge/cadence.test.ts'],
  'src/judge/growth.ts': ['test/judge/growth.test.ts'],
  'src/judge/usualLag.ts': ['test/judge/usualLag.test.ts'],
  'src/judge/missing.ts': ['test/judge/cadence.test.ts'],
  'src/plan/turns.ts': ['test/plan/turns.test.ts'],
}
