import type { Reader } from '../../db/store.ts'
import { unknownNext } from '../../judge/distances.ts'
import type { AnyParams } from '../../service/routes.ts'
import { findOpenFailures, type OpenFailureRow } from '../../state/failedRequests.ts'
import { readUnknown } from '../../state/unknownItems.ts'
import { isOutageCode } from '../../util/errors.ts'
import { quantity } from '../../util/text.ts'
import { floorToSecond, formatUtc } from '../../util/time/instant.ts'
import { syncCommand } from '../commands.ts'
import { areWithin, failedIn } from '../consequences.ts'
import type { KindRules } from '../kindRules.ts'
import type { Trouble } from '../trouble.ts'
import { itemName, withoutDot } from '../words.ts'

/** The item of a request that the service does not know: `indicator 99999`. */
export const itemKey = ({ route, params }: Pick<OpenFailureRow, 'route' | 'params'>): string =>
  `${route} ${(JSON.parse(params) as AnyParams).id}`

const about = (failures: readonly OpenFailureRow[]) => ({
  failures,
  sinceAt: Math.min(...failures.map(({ firstFailedAt }) => floorToSecond(firstFailedAt))),
  jobIds: [...new Set(failures.flatMap(({ jobId }) => jobId ?? []))],
  seriesIds: [...new Set(failures.flatMap(({ id }) => id ?? []))],
  cause: failures[0]!.code ?? failures[0]!.outcome,
})

/** Finds failed requests: those of one job with one error are one trouble, and so is an id that the service does not know. */
async function findRequestTroubles(db: Reader): Promise<Trouble[]> {
  const unknown = await readUnknown(db)
  const failures = await findOpenFailures(db)
  const isUnknown = (failure: OpenFailureRow): boolean => unknown.has(itemKey(failure))
  const ofUnknown = failures.filter(isUnknown)
  const others = failures.filter((failure) => !isUnknown(failure))
  const byError = ({ jobId, job, code, outcome }: OpenFailureRow): string => `${jobId} ${job} ${code ?? outcome}`
  return [
    ...[...Map.groupBy(ofUnknown, itemKey)].map(
      ([key, failures]): Trouble => ({
        kind: 'unknown id',
        nextAt: unknownNext(unknown.get(key)!),
        ...about(failures),
        sinceAt: unknown.get(key)!.sinceAt,
      }),
    ),
    ...[...Map.groupBy(others, byError).values()].map((failures): Trouble => ({ kind: 'failure', ...about(failures) })),
  ]
}

/** The service does not know an id. */
export const unknownId: KindRules<'unknown id'> = {
  find: findRequestTroubles,
  subject: ({ failures }) => itemName(itemKey(failures[0]!)),
  geoIds: null,
  message({ failures, nextAt }, { toCommand, now }) {
    const name = itemName(itemKey(failures[0]!))
    const job = failures[0]!.job
    return `the service does not know ${name}. Correct or remove it in ${job === null ? 'the job' : `job ${job}`}, then run the job; \`${toCommand('discover')}\` lists the indicators. ${nextAt > now ? `Next request: ${formatUtc(nextAt)}` : 'The next run requests it again'}`
  },
  // The command helps after somebody has corrected the job.
  command: ({ jobIds }, facts) => syncCommand(facts, jobIds[0]),
  isCauseOf: (cause, trouble) => trouble.kind === 'gap' && areWithin(trouble.seriesIds, cause.seriesIds),
  namesItsSeries: true,
}

/** Errors of requests that are refused again until somebody edits the job. */
const MISTAKES = ['bad-request']

/** What failed requests are about: one item, one request, or a job. */
function failureSubject(failures: readonly OpenFailureRow[]): string {
  const [first, ...others] = failures.map(({ target, params, route, job }) => {
    const { id } = JSON.parse(params) as AnyParams
    return { item: id === undefined ? target : itemName(`${route} ${id}`), job }
  })
  return others.every(({ item }) => item === first!.item) ? first!.item : `job ${first!.job ?? ''}`.trim()
}

/** Requests of a job failed with one error. */
export const failure: KindRules<'failure'> = {
  find: findRequestTroubles,
  subject: ({ failures }) => failureSubject(failures),
  geoIds: null,
  message({ failures, cause }, { listNames }) {
    const targets = listNames(
      failures.map(({ target }) => target),
      3,
    )
    const { message, entry, job } = failures.at(-1)!
    const count = quantity(failures.length, 'request')
    const text = withoutDot(message)
    const fix = MISTAKES.includes(cause ?? '')
      ? `. Correct ${entry} of ${job === null ? 'the job' : `job ${job}`}, then run the job: the service would reject the same request again`
      : ''
    return `${count} failed: ${text}: ${targets}${fix}`
  },
  command: ({ cause, jobIds }, facts) => (MISTAKES.includes(cause ?? '') ? syncCommand(facts, jobIds[0]) : 'retry'),
  isCauseOf(cause, trouble) {
    if (trouble.kind === 'quarantine') return cause.failures.some(({ fetchId }) => fetchId === trouble.reply.fetchId)
    if (trouble.kind !== 'gap' || !areWithin(trouble.seriesIds, cause.seriesIds)) return false
    // While an item keeps failing, a run leaves out its other requests.
    const isLeftOut = trouble.cause === 'never requested' && failedIn(cause, ({ code }) => isOutageCode(code ?? ''))
    return trouble.cause === 'failed' || isLeftOut
  },
}
