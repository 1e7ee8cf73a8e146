/* Compares the records of a command with the replies of the service, and updates the oracle with valid replies. */
import type { RequestLogEntry } from '../../src/emulator/server.ts'
import type { Summary } from '../../src/sync/sync.ts'
import { loadReply, recordOutcome, truthOf } from './oracle.ts'
import { differ, type Scene } from './run.ts'
import { SCOPE } from './scope.ts'
import { parseRequest, type Reply, readReply, type SeriesRequest } from './service.ts'

/** Seconds of the day on which the clocks are set back. */
const LONGEST_DAY = 90_000

/** A fetch in the database. */
interface Fetch {
  readonly id: number
  readonly run_id: number
  readonly target: string
  readonly outcome: string
  readonly status: number | null
  readonly geo_ids: string | null
  readonly from_at: number | null
  readonly to_at: number | null
  readonly rows_new: number
  readonly rows_unchanged: number
  readonly rows_revised: number
  readonly rows_withdrawn: number
  readonly rows_rejected: number
  readonly resolution_id: number | null
  readonly step_s: number | null
  readonly reason: string | null
  readonly settled_before: number | null
}

/** The events of a command: all sent requests and their records. */
export interface CommandRecords {
  readonly sent: readonly { readonly request: SeriesRequest; readonly entry: RequestLogEntry }[]
  readonly fetches: readonly { readonly fetch: Fetch; readonly request: SeriesRequest | null }[]
  readonly requests: number
}

/** Reads all new entries in the log and in the database. */
export function readRecords(scene: Scene, summary: Summary | null): CommandRecords {
  const { emulator, program, oracle, now, tally } = scene
  const entries = emulator.requests.slice(scene.seen)
  scene.seen = emulator.requests.length
  tally.requests += entries.length
  const rows = program.store().all('select * from _fetch where id > ? order by id', [scene.fetches]) as Fetch[]
  scene.fetches = rows.at(-1)?.id ?? scene.fetches
  const sums = { rows_revised: 0, rows_withdrawn: 0, rows_rejected: 0 }
  const fetches = rows.map((fetch) => {
    const request = parseRequest(fetch.target)
    const good = fetch.outcome === 'ok' || fetch.outcome === 'empty'
    for (const name of ['rows_revised', 'rows_withdrawn', 'rows_rejected'] as const) sums[name] += fetch[name]
    if (!request) return { fetch, request }
    const entry = entries.findLast(({ url }) => url === fetch.target)
    const script = scene.scripts.find(({ id, kind }) => id === request.id && kind === request.kind)
    if (good) {
      if (entry?.status !== 200 || !script) return differ('recorded as loaded', entry?.status, fetch)
      const reply: Reply = readReply(request, entry, script)
      if (reply.foreign) differ('a reply about another indicator is stored', 'shape', fetch)
      if (reply.mixed) differ('sums over a change of resolution are loaded', 'coarse', fetch)
      const { dismissed } = truthOf(oracle, request.key)
      const news = reply.rejects.filter((row) => !dismissed.has(row)).length
      const did = loadReply(oracle, request, reply, now, scene.command, {
        settledBefore: fetch.settled_before ?? request.window?.from ?? 0,
        isRestate: fetch.reason === 'restate',
      })
      const counted = [fetch.rows_revised, fetch.rows_withdrawn, fetch.rows_rejected]
      const meant = [did.revised, did.withdrawn, news]
      // Values without a length are revised only by their value, with any step.
      const hasSteps = reply.values.every(({ step }) => step !== null)
      if (SCOPE.has('counters') && hasSteps && String(counted) !== String(meant))
        differ(`revised, withdrawn, rejected of ${fetch.target}`, meant, counted)
      if (hasSteps && SCOPE.has('counters') && (fetch.rows_new < did.fresh || fetch.rows_unchanged < did.unchanged))
        differ(`new, unchanged of ${fetch.target}`, did, fetch)
      tally.comparisons += 5
    } else {
      const outcome =
        fetch.outcome === 'coarse'
          ? 'coarse'
          : fetch.outcome === 'refused'
            ? 'refused'
            : fetch.outcome === 'shape'
              ? 'unread'
              : 'failed'
      if (outcome === 'coarse' && !hasFailedDay(request, rows)) checkCoarse(scene, request, entry)
      // A window that was too large is requested in parts, and an aborted request has no result.
      if (!['too-large', 'stopped'].includes(fetch.outcome)) recordOutcome(oracle, request, outcome, now, scene.command)
    }
    return { fetch, request }
  })
  const [runs] = program.store().all(
    `select sum(rows_revised) as rows_revised, sum(rows_withdrawn) as rows_withdrawn, sum(rows_rejected) as rows_rejected
     from _run where id in (select run_id from _fetch where id in (select value from json_each(?)))`,
    [JSON.stringify(rows.map(({ id }) => id))],
  ) as (typeof sums | undefined)[]
  if (summary && rows.length > 0)
    for (const name of ['rows_revised', 'rows_withdrawn'] as const) {
      if (runs?.[name] !== sums[name]) differ(`${name} of the run`, sums[name], runs?.[name])
      if (summary.earlyEnd === null && summary.counts[name] !== sums[name])
        differ(`${name} of the summary`, sums[name], summary.counts[name])
      tally.comparisons += 2
    }
  const sent = entries.flatMap((entry) => {
    const request = parseRequest(entry.url)
    return request ? [{ request, entry }] : []
  })
  return { sent, fetches, requests: entries.length }
}

/** Whether a sample of one day failed in the same command or was empty, so that the resolution is unknown. */
const hasFailedDay = ({ key, window }: SeriesRequest, rows: readonly Fetch[]): boolean =>
  rows.some(({ target, outcome }) => {
    const day = parseRequest(target)
    if (day?.key !== key || !day.window || !window || day.window.to - day.window.from > LONGEST_DAY) return false
    const lies = window.from <= day.window.from && day.window.to <= window.to
    return lies && !['ok', 'coarse', 'too-large'].includes(outcome)
  })

/** Expects a coarse reply only where it may be one. */
function checkCoarse(scene: Scene, request: SeriesRequest, entry: RequestLogEntry | undefined): void {
  const script = scene.scripts.find(({ id, kind }) => id === request.id && kind === request.kind)
  if (entry?.status !== 200 || !script || !request.window) return
  const reply = readReply(request, entry, script)
  const oneDay = request.window.to - request.window.from <= LONGEST_DAY
  // Events have no step, and their id is unknown until a single day reveals it.
  const mayBeSums = reply.values.every(({ step }) => step === null || step >= 3600)
  if (!reply.mixed && (oneDay || !mayBeSums || request.trunc !== null))
    differ('a reply in one resolution is put aside as coarse', 'ok', entry.url)
}
