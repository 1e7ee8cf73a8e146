/* Compares the records of a command with the replies of the service, and updates the oracle with valid replies. */
import type { RequestLogEntry } from '../../src/emulator/server.ts'
import type { Summary } from '../../src/sync/sync.ts'
import { type Event, loadReply, recordOutcome, truthOf } from './oracle.ts'
import { differ, type Scene } from './scene.ts'
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
  const { emulator, program, tally } = scene
  const entries = emulator.requests.slice(scene.seen)
  scene.seen = emulator.requests.length
  tally.requests += entries.length
  const rows = program.store().all('select * from _fetch where id > ? order by id', [scene.fetches]) as Fetch[]
  scene.fetches = rows.at(-1)?.id ?? scene.fetches
  const fetches = rows.map((fetch) => {
    const request = parseRequest(fetch.target)
    const entry = entries.findLast(({ url }) => url === fetch.target)
    if (request && isLoaded(fetch)) loadFetch(scene, fetch, request, entry)
    else if (request) recordFailure(scene, fetch, request, entry, rows)
    return { fetch, request }
  })
  if (summary && rows.length > 0) compareRun(scene, summary, rows)
  const sent = entries.flatMap((entry) => {
    const request = parseRequest(entry.url)
    return request ? [{ request, entry }] : []
  })
  return { sent, fetches, requests: entries.length }
}

const isLoaded = ({ outcome }: Fetch): boolean => outcome === 'ok' || outcome === 'empty'

/** Returns the script of the indicator that a request is about. */
const scriptOf = ({ scripts }: Scene, request: SeriesRequest) =>
  scripts.find(({ id, kind }) => id === request.id && kind === request.kind)

/** Loads a stored reply into the oracle, and compares the counters of the fetch. */
function loadFetch(scene: Scene, fetch: Fetch, request: SeriesRequest, entry: RequestLogEntry | undefined): void {
  const { oracle, now, tally } = scene
  const script = scriptOf(scene, request)
  if (entry?.status !== 200 || !script) differ('recorded as loaded', entry?.status, fetch)
  const reply: Reply = readReply(request, entry, script)
  if (reply.foreign) differ('a reply about another indicator is stored', 'shape', fetch)
  if (reply.mixed) differ('sums over a change of resolution are loaded', 'coarse', fetch)
  const { dismissed } = truthOf(oracle, request.key)
  const newRejects = reply.rejects.filter((row) => !dismissed.has(row)).length
  const effect = loadReply(oracle, request, reply, now, scene.command, {
    settledBefore: fetch.settled_before ?? request.window?.from ?? 0,
    isRestate: fetch.reason === 'restate',
  })
  tally.comparisons += 5
  // Values without a length are revised only by their value, with any step.
  const hasSteps = reply.values.every(({ step }) => step !== null)
  if (!SCOPE.has('counters') || !hasSteps) return
  const expected = [effect.revised, effect.withdrawn, newRejects]
  const counted = [fetch.rows_revised, fetch.rows_withdrawn, fetch.rows_rejected]
  if (String(counted) !== String(expected)) differ(`revised, withdrawn, rejected of ${fetch.target}`, expected, counted)
  if (fetch.rows_new < effect.fresh || fetch.rows_unchanged < effect.unchanged)
    differ(`new, unchanged of ${fetch.target}`, effect, fetch)
}

/** The outcomes of the oracle for those of a fetch without a stored reply. Others have failed. */
const OUTCOMES: Readonly<Record<string, Event['outcome']>> = { coarse: 'coarse', refused: 'refused', shape: 'unread' }

/** Records a request without a stored reply in the oracle. */
function recordFailure(
  scene: Scene,
  fetch: Fetch,
  request: SeriesRequest,
  entry: RequestLogEntry | undefined,
  rows: readonly Fetch[],
): void {
  const outcome = OUTCOMES[fetch.outcome] ?? 'failed'
  if (outcome === 'coarse' && !hasFailedDay(request, rows)) checkCoarse(scene, request, entry)
  // A window that was too large is requested in parts, and an aborted request has no result.
  if (fetch.outcome === 'too-large' || fetch.outcome === 'stopped') return
  recordOutcome(scene.oracle, request, outcome, scene.now, scene.command)
}

/** Compares the counters of a run and of its summary with the sums of its fetches. */
function compareRun({ program, tally }: Scene, summary: Summary, rows: readonly Fetch[]): void {
  const [run] = program.store().all(
    `select sum(rows_revised) as rows_revised, sum(rows_withdrawn) as rows_withdrawn
     from _run where id in (select run_id from _fetch where id in (select value from json_each(?)))`,
    [JSON.stringify(rows.map(({ id }) => id))],
  ) as (Pick<Fetch, 'rows_revised' | 'rows_withdrawn'> | undefined)[]
  for (const name of ['rows_revised', 'rows_withdrawn'] as const) {
    const sum = rows.reduce((total, fetch) => total + fetch[name], 0)
    if (run?.[name] !== sum) differ(`${name} of the run`, sum, run?.[name])
    if (summary.earlyEnd === null && summary.counts[name] !== sum)
      differ(`${name} of the summary`, sum, summary.counts[name])
    tally.comparisons += 2
  }
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
  const script = scriptOf(scene, request)
  if (entry?.status !== 200 || !script || !request.window) return
  const reply = readReply(request, entry, script)
  const oneDay = request.window.to - request.window.from <= LONGEST_DAY
  // Events have no step, and their id is unknown until a single day reveals it.
  const mayBeSums = reply.values.every(({ step }) => step === null || step >= 3600)
  if (!reply.mixed && (oneDay || !mayBeSums || request.trunc !== null))
    differ('a reply in one resolution is put aside as coarse', 'ok', entry.url)
}
