import { isFailure, NO_FAILURE } from '../../db/queries/fetchOutcomes.ts'
import type { Reader } from '../../db/store.ts'
import { KEY_COMMAND, QUARANTINE_COMMAND } from '../../findings/commands.ts'
import { withDeadRuns } from '../../state/lastRuns.ts'
import { oneLine, shellWord } from '../../util/text.ts'
import {
  type Column,
  command,
  facts,
  messageText,
  olderPager,
  outcomeMark,
  serviceText,
  table,
  timeElement,
} from '../elements.ts'
import { countText, duration } from '../formats.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { runProgress, timeLeft } from '../lastRun.ts'
import { numberIn, type PageRequest, view, wholeNumber } from '../page.ts'
import { requestNames } from '../queries/names.ts'
import { rejectRow, requestRow } from './causeLinks.ts'

/** Runs, quarantine entries and requests on one page. */
const RUNS_A_PAGE = 50
const ENTRIES_A_PAGE = 50
const REQUESTS = 40

/** The duration of a run; null while it runs, or after a crash. */
const runSeconds = ({ started_at, finished_at }: { started_at: string; finished_at: string | null }) =>
  finished_at === null ? null : Math.round(Date.parse(finished_at) - Date.parse(started_at)) / 1000

/** Reads the latest runs, or those before one. `older`: where the next page begins. */
async function readRuns({ store, query }: PageRequest) {
  const before = numberIn(query, 'before')
  const rows = await store.kysely
    .selectFrom('_run')
    .select(['id', 'command', 'job', 'started_at', 'finished_at', 'outcome', 'message', 'code', 'requests', 'failed'])
    .select(['bytes', 'rows_new', 'rows_unchanged', 'rows_revised', 'rows_withdrawn', 'rows_rejected'])
    .$if(before !== null, (eb) => eb.where('id', '<', before!))
    .orderBy('id', 'desc')
    .limit(RUNS_A_PAGE + 1)
    .execute()
  const shown = await withDeadRuns(store, rows.slice(0, RUNS_A_PAGE))
  const runs = shown.map((run) => ({ ...run, seconds: runSeconds(run) }))
  return { runs, older: rows.length > RUNS_A_PAGE ? runs.at(-1)!.id : null }
}

type ListedColumn = 'id' | 'command' | 'job' | 'started_at' | 'finished_at' | 'outcome' | 'requests' | 'failed'
type RunRow = Pick<Awaited<ReturnType<typeof readRuns>>['runs'][number], ListedColumn | 'rows_new' | 'rows_revised'>

/** A table of runs. `last`: a further column. */
export function runsTable<Row extends RunRow>(
  label: string,
  runs: readonly Row[],
  request: PageRequest,
  last: Column<Row> | false = false,
): Html {
  const { runs: labels, common } = request.words
  return table(label, runs, [
    [
      common.run,
      ({ id, command, job }) =>
        html`<a href="${request.link(`/runs/${id}`)}">${id}</a> ${serviceText([...new Set([command, job])].join(' '))}`,
    ],
    [labels.outcome, ({ outcome }) => outcomeMark(outcome, request)],
    [labels.started, (run) => timeElement(request, run.started_at)],
    [labels.length, (run) => run.finished_at && duration(request, runSeconds(run)!), 'number'],
    [labels.requests, (run) => countText(request, run.requests), 'number'],
    [labels.failed, (run) => countText(request, run.failed), 'number'],
    [labels.fresh, (run) => countText(request, run.rows_new), 'number'],
    [labels.revised, (run) => countText(request, run.rows_revised), 'number'],
    last,
  ])
}

/** `/runs`: all runs. */
export const runsView = view({
  read: readRuns,
  show({ runs: rows, older }, request) {
    const { runs: labels, common } = request.words
    if (rows.length === 0)
      return html`<p>${labels.none} ${labels.noneHint}</p>${command(request.command('sync my-market.yaml'))}`
    return html`<p>${labels.about}</p>
${runsTable(common.pages.runs, rows, request, [labels.message, ({ message, code }) => messageText(message, request, code)])}
${olderPager(request, older)}`
  },
})

/** Selects the failed requests of a run by the index of failures. The sum keeps the planner from the index of runs. */
const failedRequests = ({ kysely }: Reader, run: number) =>
  kysely
    .selectFrom('_fetch as f')
    .where(({ eb, lit }) => eb(eb('f.run_id', '+', lit(0)), '=', run))
    .where('f.outcome', 'not in', NO_FAILURE)
    .orderBy('f.id', 'desc')

const COLUMNS = [
  'f.id',
  'f.entry',
  'f.route',
  'f.target',
  'f.series_id',
  'f.geo_ids',
  'f.started_at',
  'f.outcome',
  'f.status',
  'f.attempts',
  'f.ms',
  'f.bytes',
  'f.reason',
  'f.message',
  'f.hint',
  'f.code',
  'f.params',
  'f.from_at',
  'f.to_at',
  'f.rows_new',
  'f.rows_revised',
  'f.rows_withdrawn',
  'f.rows_rejected',
] as const

/** Reads a run with its failed requests and one page of all requests, newest first. */
async function readRun(request: PageRequest) {
  const { store, params, query } = request
  const id = wholeNumber(params.id)
  const before = numberIn(query, 'before')
  const found = id === null ? [] : await store.kysely.selectFrom('_run').selectAll().where('id', '=', id).execute()
  const [run] = await withDeadRuns(store, found)
  if (!run) return null
  const failures = failedRequests(store, run.id).$if(before !== null, (eb) => eb.where('f.id', '<', before!))
  const failed = run.failed === 0 ? [] : await failures.select(COLUMNS).limit(REQUESTS).execute()
  const requests = await store.kysely
    .selectFrom('_fetch as f')
    .select(COLUMNS)
    .where('f.run_id', '=', run.id)
    .$if(before !== null, (eb) => eb.where('f.id', '<', before!))
    .orderBy('f.id', 'desc')
    .limit(REQUESTS + 1)
    .execute()
  const name = await requestNames(request, [...failed, ...requests])
  const named = (row: (typeof requests)[number]) => ({ ...row, name: name(row) })
  return {
    progress: run.outcome === 'running' ? runProgress(run, request.now) : null,
    run: { ...run, seconds: runSeconds(run) },
    failed: failed.map(named),
    /** Without the failed ones. */
    requests: requests
      .slice(0, REQUESTS)
      .filter(({ outcome }) => !isFailure(outcome))
      .map(named),
    older: requests.length > REQUESTS ? requests[REQUESTS - 1]!.id : null,
  }
}

type ShownRun = NonNullable<Awaited<ReturnType<typeof readRun>>>

/** The progress of a run. */
function progressBar(progress: NonNullable<ShownRun['progress']>, request: PageRequest): Html {
  const { runs: labels } = request.words
  const { done, planned } = progress
  const text = labels.progress(done, planned)
  const bar = html`<progress value="${done}" max="${planned}" aria-label="${text}"></progress>`
  return html`<p class="running">${text}${timeLeft(request, progress)} ${bar}</p>`
}

/** A request by the name of its series, with a link to it. */
function requestLink(
  { target, name, series_id }: { readonly target: string; readonly name: string; readonly series_id: number | null },
  { link }: PageRequest,
): Html {
  const series = series_id !== null && html`<a href="${link(`/series/s${series_id}`)}">${oneLine(name)}</a>`
  return html`<bdi title="${oneLine(target)}">${series || oneLine(name)}</bdi>`
}

function requestsTable(label: string, rows: ShownRun['requests'], request: PageRequest): Html {
  const { runs: labels, common } = request.words
  return table(label, rows, [
    [
      common.request,
      ({ message, hint, code, ...row }) => {
        const text = messageText([message, hint].filter(Boolean).join(' '), request, code)
        return html`<span id="${requestRow(row.id)}">${requestLink(row, request)}</span>${text}`
      },
    ],
    [
      labels.outcome,
      ({ outcome, status }) => {
        const isFailed = isFailure(outcome)
        const statusText = isFailed && status !== null && html` <span class="soft">(HTTP ${status})</span>`
        return html`<span class="${isFailed && 'bad'}">${labels.results[outcome]}</span>${statusText}`
      },
    ],
    [labels.started, ({ started_at }) => timeElement(request, started_at)],
    [labels.length, ({ ms }) => (ms < 1000 ? `${ms} ms` : duration(request, ms / 1000)), 'number'],
    [common.why, ({ reason }) => reason && (labels.reasons[reason] ?? reason), 'when'],
    [labels.fresh, ({ rows_new }) => countText(request, rows_new), 'number'],
    [labels.revised, ({ rows_revised }) => countText(request, rows_revised), 'number'],
  ])
}

/** The failed requests of a run, and the command that requests them again. */
function failuresSection(run: ShownRun['run'], failed: ShownRun['failed'], request: PageRequest): HtmlPart {
  if (failed.length === 0) return null
  const { runs: labels } = request.words
  const isKeyWrong = failed.some(({ outcome }) => outcome === 'key')
  const keyCommand = isKeyWrong && command(request.command(KEY_COMMAND))
  const again = run.outcome === 'failed' && run.job_file !== null ? `sync ${shellWord(run.job_file)}` : 'retry'
  const hint = html`<p>${labels.failuresHint}</p>${command(request.command(again))}`
  return html`<h2>${labels.failures}</h2>${keyCommand}${hint}
${requestsTable(labels.failures, failed, request)}`
}

/** `/runs/7`: a run, its failures first. */
export const runView = view({
  read: readRun,
  title: ({ run: { id } }, { words }) => `${words.common.pages.run} ${id}`,
  show(data, request) {
    const { run, failed, requests, older, progress } = data
    const { runs: labels, common } = request.words
    const rows = [
      [labels.fresh, run.rows_new],
      [labels.unchanged, run.rows_unchanged],
      [labels.revised, run.rows_revised],
      [labels.withdrawn, run.rows_withdrawn],
      [labels.rejected, run.rows_rejected],
    ] as const
    const quarantineLink = html`<p><a href="${request.link('/quarantine')}">${labels.quarantine}</a></p>`
    return html`${progress !== null && progressBar(progress, request)}${facts([
      [labels.what, serviceText(run.command)],
      [common.job, run.job !== run.command && serviceText(run.job)],
      [labels.outcome, outcomeMark(run.outcome, request)],
      [labels.started, timeElement(request, run.started_at)],
      [labels.ended, run.outcome === 'running' ? labels.gone : timeElement(request, run.finished_at)],
      [labels.length, run.seconds !== null && duration(request, run.seconds)],
      [
        labels.requests,
        run.outcome === 'stopped' && run.planned !== null
          ? labels.progress(run.requests, run.planned)
          : countText(request, run.requests),
      ],
      [labels.failed, countText(request, run.failed)],
      [labels.bytes, countText(request, run.bytes)],
      [labels.rows, rows.map(([name, count]) => `${countText(request, count)} ${name.toLowerCase()}`).join(', ')],
      [
        labels.schedule,
        run.schedule !== null && html`<code>${serviceText(run.schedule)}</code> ${serviceText(run.time_zone)}`,
      ],
      [labels.version, serviceText(run.version)],
      [labels.message, messageText(run.message, request, run.code)],
    ])}
${run.rows_rejected > 0 && html`${quarantineLink}${command(request.command(QUARANTINE_COMMAND))}`}
${failuresSection(run, failed, request)}
${requests.length > 0 && html`<h2>${labels.all}</h2>${requestsTable(labels.all, requests, request)}`}
${requests.length + failed.length === 0 && html`<p>${labels.noRequests}</p>`}
${olderPager(request, older)}`
  },
})

/** Reads the open quarantine entries, newest first, or those before one. `older`: where the next page begins. */
async function readQuarantine(request: PageRequest) {
  const { store, query } = request
  const before = numberIn(query, 'before')
  const rows = await store.kysely
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(['q.id', 'q.created_at', 'q.run_id', 'q.path', 'q.reason', 'q.fragment'])
    .select(['f.target', 'f.series_id', 'f.route', 'f.params', 'f.from_at', 'f.to_at'])
    .where('q.resolved_at', 'is', null)
    .$if(before !== null, (eb) => eb.where('q.id', '<', before!))
    // The order of the index of open entries.
    .orderBy('q.fetch_id', 'desc')
    .orderBy('q.id', 'desc')
    .limit(ENTRIES_A_PAGE + 1)
    .execute()
  const name = await requestNames(request, rows)
  const entries = rows.slice(0, ENTRIES_A_PAGE).map((row) => ({ ...row, name: name(row) }))
  return { entries, older: rows.length > ENTRIES_A_PAGE ? entries.at(-1)!.id : null }
}

/** `/quarantine`: data that could not be parsed. */
export const quarantineView = view({
  read: readQuarantine,
  show({ entries, older }, request) {
    const { runs, common } = request.words
    const labels = runs.rejects
    if (entries.length === 0) return html`<p>${labels.none}</p>`
    return html`<p>${labels.about}</p>
${table(common.pages.quarantine, entries, [
  [common.number, ({ id }) => html`<span id="${rejectRow(id)}">${id}</span>`],
  [
    labels.found,
    ({ run_id, created_at }) =>
      html`<a href="${request.link(`/runs/${run_id}`)}">${timeElement(request, created_at)}</a>`,
  ],
  [common.request, (entry) => requestLink(entry, request)],
  [common.why, ({ reason }) => messageText(reason, request)],
  [labels.fragment, ({ path, fragment }) => html`<code>${serviceText(path)}: ${serviceText(fragment)}</code>`],
])}
${olderPager(request, older)}
<p>${labels.retry}</p>${command(request.command('retry'))}
<p>${labels.replay}</p>${command(request.command('replay'))}
<p>${labels.dismiss}</p>${command(request.command(`quarantine dismiss ${entries[0]!.id} --reason "…"`))}`
  },
})
