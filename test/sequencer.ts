import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The files that take longest, the longest first; the others take a few seconds each. */
const LONGEST = [
  'test/crash/crash.test.ts',
  'test/cluster/frozen.test.ts',
  'test/cluster/worker.test.ts',
  'test/cli/commands/schedule.test.ts',
  'test/cluster/campaign.test.ts',
  'test/model/first.test.ts',
  'test/model/second.test.ts',
  'test/page/accessible.test.ts',
  'test/cli/commands/sync.test.ts',
  'test/cli/cli.test.ts',
  'test/fetch/attacker.test.ts',
  'test/fetch/faults.test.ts',
  'test/cluster/paused.test.ts',
  'test/library.test.ts',
  'test/postgres/store.test.ts',
  'test/postgres/equal.test.ts',
  'test/transform/floods.test.ts',
  'test/db/hostile.test.ts',
  'test/mixedResolutions.test.ts',
  'test/cli/target.test.ts',
  'test/postgres/restart.test.ts',
  'test/cli/surroundings.test.ts',
  'test/replay.test.ts',
]

/** Starts the files that take longest first, so that no core is idle while one of them is the last to run. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(name))
      return at < 0 ? LONGEST.length : at
    }
    return [...(await super.sort(files))].sort((a, b) => rank(a) - rank(b))
  }
}
