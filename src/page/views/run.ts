import { type Html, html } from '../html.ts'
import { NotFound, type PageRequest, view, wholeOf } from '../page.ts'
import { type Dot, MOST_DRAWN, type RequestRow, type RouteRow, readRun } from '../queries/run.ts'
import { command, facts, neighbours, outcomeMark, scrolled, serviceText } from './elements.ts'
import { countText } from './numbers.ts'
import { duration, timeElement } from './times.ts'

type Data = NonNullable<Awaited<ReturnType<typeof readRun>>>

const LANE = { width: 300, height: 16 }

/** A chart of when the requests of a route were under way, each as a line of its duration; failed ones are higher. */
function routeChart(dots: readonly Dot[], seconds: number, { words }: PageRequest): Html {
  const scale = LANE.width / Math.max(seconds, 0.001)
  const path = (failed: boolean): string =>
    dots
      .filter((dot) => dot.failed === failed)
      .map(
        ({ at, ms }) => `M${Math.round(at * scale)} ${failed ? 4 : 11}h${Math.max(2, Math.round((ms / 1000) * scale))}`,
      )
      .join('')
  const failed = dots.filter((dot) => dot.failed).length
  return html`<svg class="lane" viewBox="0 0 ${LANE.width} ${LANE.height}" width="${LANE.width}" height="${LANE.height}" role="img" aria-label="${words.runs.dots(dots.length, failed)}"><path class="sent" d="${path(false)}"/><path class="failed" d="${path(true)}"/></svg>`
}

function routes({ routes: rows, dots, run, cut }: Data, request: PageRequest): Html {
  const { runs: own } = request.words
  const seconds = run.seconds ?? Math.max(0, ...dots.map(({ at, ms }) => at + ms / 1000))
  const line = (route: RouteRow): Html => html`<tr><th scope="row">${serviceText(route.route)}</th>
<td class="number">${countText(request, route.requests)}</td><td class="number">${countText(request, route.failed)}</td>
<td class="number">${countText(request, route.attempts)}</td><td class="number">${countText(request, route.bytes)}</td>
<td class="number">${route.median} ms</td><td class="number">${route.slowest} ms</td>
<td>${routeChart(
    dots.filter((dot) => dot.route === route.route),
    seconds,
    request,
  )}</td></tr>
`
  return html`<h2>${own.routes}</h2>${cut && html`<p>${own.cut(MOST_DRAWN)}</p>`}
${scrolled(
  own.routes,
  html`<table>
<thead><tr><th scope="col">${own.route}</th><th scope="col" class="number">${own.requests}</th><th scope="col" class="number">${own.failed}</th><th scope="col" class="number">${own.attempts}</th><th scope="col" class="number">${own.bytes}</th><th scope="col" class="number">${own.median}</th><th scope="col" class="number">${own.slowest}</th><th scope="col">${own.when}</th></tr></thead>
<tbody>
${rows.map(line)}</tbody></table>`,
)}`
}

const requestRow = (one: RequestRow, request: PageRequest): Html => html`<tr><th scope="row">${one.id}</th>
<td>${timeElement(request, one.started_at)}</td><td><code>${serviceText(one.target === '' ? one.route : one.target)}</code>${one.message && html`<br>${serviceText(one.message, 'en')}`}${one.hint && html`<br>→ ${serviceText(one.hint, 'en')}`}</td>
<td>${serviceText(one.outcome)}${one.status !== null && html` ${one.status}`}</td><td class="number">${one.ms} ms</td>
<td>${serviceText(one.reason)}</td><td class="number">${countText(request, one.rows_new)}</td><td class="number">${countText(request, one.rows_revised)}</td></tr>
`

function requests(rows: readonly RequestRow[], label: string, request: PageRequest): Html {
  const { runs: own } = request.words
  return html`${scrolled(
    label,
    html`<table>
<thead><tr><th scope="col">${own.id}</th><th scope="col">${own.started}</th><th scope="col">${own.request}</th><th scope="col">${own.outcome}</th><th scope="col" class="number">${own.length}</th><th scope="col">${own.reason}</th><th scope="col" class="number">${own.fresh}</th><th scope="col" class="number">${own.revised}</th></tr></thead>
<tbody>
${rows.map((one) => requestRow(one, request))}</tbody></table>`,
  )}`
}

/** `/runs/7`: one run, its failures first. */
export const runView = view<Data>({
  async read({ store, params, query }) {
    const id = /^\d{1,15}$/.test(params.id ?? '') ? Number(params.id) : Number.NaN
    const found = Number.isNaN(id) ? null : await readRun(store, id, wholeOf(query, 'before'))
    if (!found) throw new NotFound(`run ${params.id}`)
    return found
  },
  title: ({ run: { id } }, { words }) => `${words.common.pages.run} ${id}`,
  show(data, request) {
    const { run: one, failed, requests: all, older } = data
    const { words, query } = request
    const { runs: own } = words
    const rows = [
      [own.fresh, one.rows_new],
      [own.unchanged, one.rows_unchanged],
      [own.revised, one.rows_revised],
      [own.withdrawn, one.rows_withdrawn],
      [own.rejected, one.rows_rejected],
    ] as const
    return html`${facts([
      [own.what, serviceText(one.command)],
      [own.job, serviceText(one.job)],
      [own.outcome, outcomeMark(one.outcome, request)],
      [own.started, timeElement(request, one.started_at)],
      [own.ended, one.finished_at === null ? own.gone : timeElement(request, one.finished_at)],
      [own.length, one.seconds !== null && duration(one.seconds)],
      [own.requests, countText(request, one.requests)],
      [own.failed, countText(request, one.failed)],
      [own.bytes, countText(request, one.bytes)],
      [own.rows, rows.map(([name, count]) => `${countText(request, count)} ${name}`).join(', ')],
      [
        own.schedule,
        one.schedule !== null && html`<code>${serviceText(one.schedule)}</code> ${serviceText(one.time_zone)}`,
      ],
      [own.version, serviceText(one.version)],
      [own.message, serviceText(one.message, 'en')],
    ])}
${one.rows_rejected > 0 && html`<p><a href="${request.link('/quarantine')}">${own.quarantine}</a></p>${command(request.command('quarantine list'))}`}
${
  failed.length > 0 &&
  html`<h2>${own.failures}</h2><p>${own.failuresHint}</p>${command(request.command('retry'))}
${requests(failed, own.failures, request)}`
}
${data.routes.length > 0 && routes(data, request)}
<h2>${own.all}</h2>
${all.length === 0 ? html`<p>${own.noRequests}</p>` : requests(all, own.all, request)}
${neighbours(request, `/runs/${one.id}`, { before: query.has('before') ? {} : null, after: older === null ? null : { before: older } })}`
  },
})
