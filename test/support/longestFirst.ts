import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The slowest files, slowest first; others take a few seconds each. */
const LONGEST = [
  'test/crash/crash.test.ts',
  'test/cluster/worker.test.ts',
  'test/page/chart.slow.test.ts',
  'test/cli/volumes.slow.test.ts',
  'test/postgres/equal.test.ts',
  'test/postgres/store.test.ts',
  'test/library.slow.test.ts',
  'test/fetch/attacker.slow.test.ts',
  'test/page/accessible.slow.test.ts',
  'test/postgres/page.test.ts',
  'test/page/browser.slow.test.ts',
  'test/cli/commands/schedule.slow.test.ts',
  'test/cluster/frozen.test.ts',
  'test/lake/bucket.slow.test.ts',
  'test/postgres/restart.test.ts',
  'test/cli/target.slow.test.ts',
  'test/cli/commands/archives.slow.test.ts',
  'test/cluster/queue.test.ts',
  'test/cluster/pacer.test.ts',
  'test/cluster/connections.test.ts',
  'test/lake/random.slow.test.ts',
  'test/model/fromSeed1001.test.ts',
  'test/model/fromSeed2001.test.ts',
  'test/fetch/deadlines.process.test.ts',
  'test/page/statements.process.test.ts',
  'test/fetch/probe.test.ts',
  'test/mixedResolutions.test.ts',
  'test/fetch/pace.test.ts',
  'test/page/sql.test.ts',
  'test/cli/logging.test.ts',
  'test/findings/ahead.test.ts',
  'test/cli/commands/sync.test.ts',
  'test/cli/jobs/notify.test.ts',
  'test/util/secrets.process.test.ts',
  'test/fetch/faults.process.test.ts',
  'test/cli/commands/query.test.ts',
  'test/transform/i90.test.ts',
]

/** Starts the slowest files first, so that no core is idle at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(name))
      return at < 0 ? LONGEST.length : at
    }
    return [...(await super.sort(files))].sort((a, b) => rank(a) - rank(b))
  }
}
