import { isFailure, NO_FAILURE } from '../../db/queries/fetchOutcomes.ts'
import { readQueues } from '../../db/queries/queues.ts'
import type { Reader } from '../../db/store.ts'
import type { FetchOutcome } from '../../db/tables/codes.ts'
import { withDeadRuns } from '../../reports/lastRuns.ts'
import { oneLine } from '../../util/text.ts'
import {
  type Column,
  command,
  countText,
  duration,
  facts,
  messageText,
  olderPager,
  outcomeMark,
  roughLength,
  serviceText,
  table,
  timeElement,
} from '../elements.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { readProgress } from '../lastRun.ts'
import { type PageRequest, view, wholeNumber } from '../page.ts'
import { requestNames } from '../queries/names.ts'

/** Runs, entries of the quarantine, and requests that one page lists. */
const [RUNS_A_PAGE, ENTRIES_A_PAGE, REQUESTS] = [50, 50, 40]
/** Requests that are drawn and added up by route: a run may have a hundred thousand. */
const MOST_DRAWN = 1000

/** How long a run took; null while it runs, or after a crash. */
const secondsOf = ({ started_at, finished_at }: { started_at: string; finished_at: string | null }) =>
  finished_at === null ? null : Math.round(Date.parse(finished_at) - Date.parse(started_at)) / 1000

/** The latest runs, or those before one; `older` is the number with which to request the next ones. */
async function readRuns({ store, query }: PageRequest) {
  const before = wholeNumber(query.get('before'))
  const rows = await store.kysely
    .selectFrom('_run')
    .select(['id', 'command', 'job', 'started_at', 'finished_at', 'outcome', 'requests', 'failed', 'bytes', 'message'])
    .select(['rows_new', 'rows_unchanged', 'rows_revised', 'rows_withdrawn', 'rows_rejected'])
    .$if(before !== null, (of) => of.where('id', '<', before!))
    .orderBy('id', 'desc')
    .limit(RUNS_A_PAGE + 1)
    .execute()
  const shown = await withDeadRuns(store, rows.slice(0, RUNS_A_PAGE))
  const runs = shown.map((run) => ({ ...run, seconds: secondsOf(run) }))
  // Only a database on a server has queues.
  const queues = query.has('before') ? null : await readQueues(store)
  return { runs, older: rows.length > RUNS_A_PAGE ? runs.at(-1)!.id : null, ...(queues ? { queues } : {}) }
}

type RunList = Awaited<ReturnType<typeof readRuns>>
/** A run as lists show it. */
type RunRow = Omit<
  RunList['runs'][number],
  'seconds' | 'message' | 'bytes' | `rows_${'unchanged' | 'withdrawn' | 'rejected'}`
>

const BAR = { width: 10, height: 48 }

/** The durations of the runs, the oldest first, on a root scale, so that short ones are visible beside long ones. */
function runStrip(runs: RunList['runs'], request: PageRequest): Html {
  const longest = Math.max(1, ...runs.map(({ seconds }) => seconds ?? 0))
  const bars = [...runs].reverse().map(({ seconds, outcome, id }, i) => {
    const height = Math.max(2, Math.round(Math.sqrt((seconds ?? 0) / longest) * BAR.height))
    const failed = outcome !== 'done' && outcome !== 'running'
    return html`<rect class="${failed ? 'bar failed' : 'bar'}" x="${i * BAR.width}" y="${BAR.height - height}" width="${BAR.width - 3}" height="${height}"><title>${request.words.common.run} ${id}: ${request.words.runs.outcomes[outcome]}</title></rect>`
  })
  return html`<svg class="durations" viewBox="0 0 ${runs.length * BAR.width} ${BAR.height}" width="${runs.length * BAR.width}" height="${BAR.height}" role="img" aria-label="${request.words.runs.strip(runs.length, duration(request, longest))}">${bars}</svg>`
}

/** A table of runs. `more`: the last column. */
export function runsTable<Row extends RunRow>(
  label: string,
  runs: readonly Row[],
  request: PageRequest,
  more: Column<Row> | false = false,
): Html {
  const { runs: own, common } = request.words
  return table(label, runs, [
    [
      common.run,
      ({ id, command, job }) =>
        html`<a href="${request.link(`/runs/${id}`)}">${id}</a> ${serviceText([...new Set([command, job])].join(' '))}`,
    ],
    [own.outcome, ({ outcome }) => outcomeMark(outcome, request)],
    [own.started, (run) => timeElement(request, run.started_at)],
    [own.length, (run) => run.finished_at && duration(request, secondsOf(run)!), 'number'],
    [own.requests, (run) => countText(request, run.requests), 'number'],
    [own.failed, (run) => countText(request, run.failed), 'number'],
    [own.fresh, (run) => countText(request, run.rows_new), 'number'],
    [own.revised, (run) => countText(request, run.rows_revised), 'number'],
    more,
  ])
}

/** The queues of a shared database; nothing if there is none. */
function queuesTable(queues: RunList['queues'] = [], request: PageRequest): HtmlPart {
  const own = request.words.queues
  if (queues.length === 0) return null
  return html`<h2>${own.heading}</h2>
${table(own.heading, queues, [
  [own.host, ({ host }) => serviceText(host)],
  [own.waiting, ({ queued }) => countText(request, queued), 'number'],
  [own.active, ({ active }) => countText(request, active), 'number'],
  [own.dead, ({ dead }) => countText(request, dead), 'number'],
])}
<p>${own.deadHint}</p>`
}

/** `/runs`: what ran, what failed. */
export const runsView = view({
  read: readRuns,
  show({ runs: rows, older, queues }, request) {
    const { runs: own, common } = request.words
    if (rows.length === 0)
      return html`<p>${own.none} ${own.noneHint}</p>${command(request.command('sync my-market.yaml'))}${queuesTable(queues, request)}`
    return html`<p>${own.about}</p>
<figure>${runStrip(rows, request)}</figure>
${runsTable(common.pages.runs, rows, request, [own.message, ({ message }) => messageText(message, request)])}
${olderPager(request, older)}
${queuesTable(queues, request)}`
  },
})

/** The requests of a run from `_fetch`, the latest first. */
const requestsOfRun = ({ kysely }: Reader, run: number) =>
  kysely.selectFrom('_fetch as f').where('f.run_id', '=', run).orderBy('f.id', 'desc')

/**
 * The requests of a run that failed, the latest first. They are searched among all failures, which have an index, because the
 * run may have a hundred thousand other requests. The sum keeps the planner from the index of runs.
 */
const failedOf = ({ kysely }: Reader, run: number) =>
  kysely
    .selectFrom('_fetch as f')
    .where(({ eb, lit }) => eb(eb('f.run_id', '+', lit(0)), '=', run))
    .where('f.outcome', 'not in', NO_FAILURE)
    .orderBy('f.id', 'desc')

const COLUMNS = [
  ...(['f.id', 'f.entry', 'f.route', 'f.target', 'f.series_id', 'f.geo_ids', 'f.started_at', 'f.outcome'] as const),
  ...(['f.status', 'f.attempts', 'f.ms', 'f.bytes', 'f.reason', 'f.message', 'f.hint', 'f.code'] as const),
  ...(['f.params', 'f.from_at', 'f.to_at'] as const),
  ...(['f.rows_new', 'f.rows_revised', 'f.rows_withdrawn', 'f.rows_rejected'] as const),
] as const

/** The requests of each route, summed up, with their median time and the longest one in milliseconds. */
function byRoute(
  requests: readonly { route: string; outcome: FetchOutcome; attempts: number; bytes: number; ms: number }[],
) {
  return [...Map.groupBy(requests, ({ route }) => route)].map(([route, rows]) => {
    const times = rows.map(({ ms }) => ms).sort((a, b) => a - b)
    return {
      route,
      requests: rows.length,
      failed: rows.filter(({ outcome }) => isFailure(outcome)).length,
      attempts: rows.reduce((sum, { attempts }) => sum + attempts, 0),
      bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
      median: times[times.length >> 1]!,
      slowest: times.at(-1)!,
    }
  })
}

/** One run with its requests, the latest first: those that failed apart, and a part of the others. */
async function readRun(request: PageRequest) {
  const { store, params, query } = request
  const [id, before] = [wholeNumber(params.id), wholeNumber(query.get('before'))]
  const run =
    id === null ? undefined : await store.kysely.selectFrom('_run').selectAll().where('id', '=', id).executeTakeFirst()
  if (!run) return null
  const failed = run.failed === 0 ? [] : await failedOf(store, run.id).select(COLUMNS).limit(REQUESTS).execute()
  const requests = await requestsOfRun(store, run.id)
    .select(COLUMNS)
    .$if(before !== null, (of) => of.where('f.id', '<', before!))
    .limit(REQUESTS + 1)
    .execute()
  const drawn = await requestsOfRun(store, run.id)
    .select(['f.route', 'f.outcome', 'f.started_at', 'f.attempts', 'f.bytes', 'f.ms'])
    .limit(MOST_DRAWN)
    .execute()
  const name = await requestNames(request, [...failed, ...requests])
  const named = (row: (typeof requests)[number]) => ({ ...row, name: name(row) })
  const began = Date.parse(run.started_at)
  return {
    progress: run.outcome === 'running' ? await readProgress(store, run, request.now) : null,
    run: { ...run, seconds: secondsOf(run) },
    routes: byRoute(drawn),
    /** When each request was sent, in seconds after the run began, and how long it took. */
    dots: drawn.map(({ route, outcome, started_at, ms }) => ({
      route,
      ms,
      failed: isFailure(outcome),
      at: (Date.parse(started_at) - began) / 1000,
    })),
    /** Whether only the last requests of the run are drawn and added up. */
    cut: drawn.length === MOST_DRAWN,
    failed: failed.map(named),
    requests: requests.slice(0, REQUESTS).map(named),
    older: requests.length > REQUESTS ? requests[REQUESTS - 1]!.id : null,
  }
}

type Run = NonNullable<Awaited<ReturnType<typeof readRun>>>

/** How far a run is, by the last complete run of its job. */
function progressBar({ done, expected, secondsLeft }: NonNullable<Run['progress']>, request: PageRequest): Html {
  const { runs: own } = request.words
  const left = secondsLeft === null ? '' : ` · ${own.left(roughLength(request, secondsLeft))}`
  return html`<p class="running">${own.progress(done, expected)}${left} <progress value="${done}" max="${Math.max(done, expected)}" aria-label="${own.progress(done, expected)}"></progress></p>`
}

const LANE = { width: 300, height: 16 }

/** A chart of when the requests of a route were under way, each as a line of its duration; failed ones are higher. */
function routeChart(dots: Run['dots'], seconds: number, { words: { runs: own } }: PageRequest): Html {
  const scale = LANE.width / Math.max(seconds, 0.001)
  const path = (failed: boolean): string =>
    dots
      .filter((dot) => dot.failed === failed)
      .map(
        ({ at, ms }) => `M${Math.round(at * scale)} ${failed ? 4 : 11}h${Math.max(2, Math.round((ms / 1000) * scale))}`,
      )
      .join('')
  const failed = dots.filter((dot) => dot.failed).length
  const label = failed > 0 ? own.dotsFailed(dots.length, failed) : own.dots(dots.length)
  return html`<svg class="lane" viewBox="0 0 ${LANE.width} ${LANE.height}" width="${LANE.width}" height="${LANE.height}" role="img" aria-label="${label}"><path class="sent" d="${path(false)}"/><path class="failed" d="${path(true)}"/></svg>`
}

function routes({ routes: rows, dots, run, cut }: Run, request: PageRequest): Html {
  const { runs: own } = request.words
  const seconds = run.seconds ?? Math.max(0, ...dots.map(({ at, ms }) => at + ms / 1000))
  const dotsOf = Map.groupBy(dots, ({ route }) => route)
  return html`<h2>${own.routes}</h2>${cut && html`<p>${own.cut(MOST_DRAWN)}</p>`}
${table(own.routes, rows, [
  [own.route, ({ route }) => own.targets[route] ?? serviceText(route)],
  [own.requests, ({ requests }) => countText(request, requests), 'number'],
  [own.failed, ({ failed }) => countText(request, failed), 'number'],
  [own.attempts, ({ attempts }) => countText(request, attempts), 'number'],
  [own.bytes, ({ bytes }) => countText(request, bytes), 'number'],
  [own.median, ({ median }) => `${median} ms`, 'number'],
  [own.slowest, ({ slowest }) => `${slowest} ms`, 'number'],
  [own.when, ({ route }) => routeChart(dotsOf.get(route) ?? [], seconds, request)],
])}`
}

function requestsTable(label: string, rows: Run['requests'], request: PageRequest): Html {
  const { runs: own, common } = request.words
  return table(label, rows, [
    [
      common.request,
      ({ target, name, message, hint, code }) =>
        html`<bdi title="${oneLine(target)}">${oneLine(name)}</bdi>${messageText([message, hint].filter(Boolean).join(' '), request, code)}`,
    ],
    [
      own.outcome,
      ({ outcome, status }) =>
        html`<span class="${isFailure(outcome) && 'bad'}">${own.results[outcome]}</span>${isFailure(outcome) && status !== null && html` <span class="soft">(HTTP ${status})</span>`}`,
    ],
    [own.started, ({ started_at }) => timeElement(request, started_at)],
    [own.length, ({ ms }) => `${ms} ms`, 'number'],
    [common.why, ({ reason }) => reason && (own.reasons[reason] ?? reason), 'when'],
    [own.fresh, ({ rows_new }) => countText(request, rows_new), 'number'],
    [own.revised, ({ rows_revised }) => countText(request, rows_revised), 'number'],
  ])
}

/** `/runs/7`: one run, its failures first. */
export const runView = view({
  read: readRun,
  title: ({ run: { id } }, { words }) => `${words.common.pages.run} ${id}`,
  show(data, request) {
    const { run: one, failed, requests: all, older, progress } = data
    const { runs: own, common } = request.words
    const rows = [
      [own.fresh, one.rows_new],
      [own.unchanged, one.rows_unchanged],
      [own.revised, one.rows_revised],
      [own.withdrawn, one.rows_withdrawn],
      [own.rejected, one.rows_rejected],
    ] as const
    return html`${progress !== null && progressBar(progress, request)}${facts([
      [own.what, serviceText(one.command)],
      [common.job, one.job !== one.command && serviceText(one.job)],
      [own.outcome, outcomeMark(one.outcome, request)],
      [own.started, timeElement(request, one.started_at)],
      [own.ended, one.finished_at === null ? own.gone : timeElement(request, one.finished_at)],
      [own.length, one.seconds !== null && duration(request, one.seconds)],
      [own.requests, countText(request, one.requests)],
      [own.failed, countText(request, one.failed)],
      [own.bytes, countText(request, one.bytes)],
      [own.rows, rows.map(([name, count]) => `${countText(request, count)} ${name.toLowerCase()}`).join(', ')],
      [
        own.schedule,
        one.schedule !== null && html`<code>${serviceText(one.schedule)}</code> ${serviceText(one.time_zone)}`,
      ],
      [own.version, serviceText(one.version)],
      [own.message, messageText(one.message, request)],
    ])}
${one.rows_rejected > 0 && html`<p><a href="${request.link('/quarantine')}">${own.quarantine}</a></p>${command(request.command('quarantine list'))}`}
${
  failed.length > 0 &&
  html`<h2>${own.failures}</h2><p>${own.failuresHint}</p>${command(request.command('retry'))}
${requestsTable(own.failures, failed, request)}`
}
${data.routes.length > 0 && routes(data, request)}
<h2>${own.all}</h2>
${all.length === 0 ? html`<p>${own.noRequests}</p>` : requestsTable(own.all, all, request)}
${olderPager(request, older)}`
  },
})

/** What is open in quarantine, the latest first, or what came before an entry; `older` is the number with which to request the next ones. */
async function readQuarantine({ store, query }: PageRequest) {
  const before = wholeNumber(query.get('before'))
  const rows = await store.kysely
    .selectFrom('_quarantine as q')
    .innerJoin('_fetch as f', 'f.id', 'q.fetch_id')
    .select(['q.id', 'q.created_at', 'q.run_id', 'f.target', 'q.path', 'q.reason', 'q.fragment'])
    .where('q.resolved_at', 'is', null)
    .$if(before !== null, (of) => of.where('q.id', '<', before!))
    // In this order the index of open entries has them, however many are closed.
    .orderBy('q.fetch_id', 'desc')
    .orderBy('q.id', 'desc')
    .limit(ENTRIES_A_PAGE + 1)
    .execute()
  const entries = rows.slice(0, ENTRIES_A_PAGE)
  return { entries, older: rows.length > ENTRIES_A_PAGE ? entries.at(-1)!.id : null }
}

/** `/quarantine`: what could not be understood. */
export const quarantineView = view({
  read: readQuarantine,
  show({ entries, older }, request) {
    const { runs, common } = request.words
    const own = runs.rejects
    if (entries.length === 0) return html`<p>${own.none}</p>`
    return html`<p>${own.about}</p>
${table(common.pages.quarantine, entries, [
  [common.number, ({ id }) => id],
  [
    own.found,
    ({ run_id, created_at }) =>
      html`<a href="${request.link(`/runs/${run_id}`)}">${timeElement(request, created_at)}</a>`,
  ],
  [common.request, ({ target }) => html`<code>${serviceText(target)}</code>`],
  [own.path, ({ path }) => html`<code>${serviceText(path)}</code>`],
  [common.why, ({ reason }) => messageText(reason, request)],
  [own.fragment, ({ fragment }) => html`<code>${serviceText(fragment)}</code>`],
])}
${olderPager(request, older)}
<p>${own.replay}</p>${command(request.command('quarantine replay'))}
<p>${own.dismiss}</p>${command(request.command(`quarantine dismiss ${entries[0]!.id} --reason "…"`))}`
  },
})
