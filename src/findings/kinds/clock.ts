import type { Reader } from '../../db/store.ts'
import { quantity } from '../../util/text.ts'
import { CLOCK_ERROR_S, floorToSecond, formatMillis, formatUtc, type Instant } from '../../util/time/instant.ts'
import type { KindRules } from '../kindRules.ts'
import type { Trouble } from '../trouble.ts'

/** Finds runs with times in the future: the clock of this machine is behind now, or was ahead then. */
async function findFutureRuns({ kysely }: Reader, now: Instant): Promise<Trouble[]> {
  const limit = formatMillis((now + CLOCK_ERROR_S) * 1000)
  const found = await kysely
    .selectFrom('_run')
    .select(({ fn }) => [
      fn.countAll<number>().as('runs'),
      fn.max('started_at').as('started'),
      fn.max('finished_at').as('finished'),
    ])
    .where((run) => run.or([run('started_at', '>', limit), run('finished_at', '>', limit)]))
    .executeTakeFirstOrThrow()
  const times = [found.started, found.finished].flatMap((at) => (at === null ? [] : floorToSecond(at)))
  if (times.length === 0) return []
  const latest = Math.max(...times)
  return [{ kind: 'clock', runs: Number(found.runs), latest, sinceAt: null, jobIds: [], seriesIds: [], cause: null }]
}

/** Runs have times in the future. */
export const clock: KindRules<'clock'> = {
  find: findFutureRuns,
  subject: () => 'clock',
  geoIds: null,
  message: ({ runs, latest }) =>
    `${quantity(runs, 'run')} ${runs === 1 ? 'has a time' : 'have times'} in the future, up to ${formatUtc(latest)}: the clock of this machine is behind, or was ahead then. Correct it. This ends when that time has come`,
  command: null,
}
