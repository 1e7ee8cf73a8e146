import { readQueues } from '../../db/queries/queues.ts'
import { type Html, html } from '../html.ts'
import { type PageRequest, view, wholeOf } from '../page.ts'
import { type RunRow, readRuns } from '../queries/runList.ts'
import { command, neighbours, outcomeMark, scrolled, serviceText } from './elements.ts'
import { countText } from './numbers.ts'
import { queuesTable } from './queues.ts'
import { duration, timeElement } from './times.ts'

const BAR = { width: 10, height: 48 }

/** The durations of the runs, the oldest first, on a root scale, so that short ones are visible beside long ones. */
function runStrip(runs: readonly RunRow[], { words }: PageRequest): Html {
  const longest = Math.max(1, ...runs.map(({ seconds }) => seconds ?? 0))
  const bars = [...runs].reverse().map(({ seconds, outcome, id }, i) => {
    const height = Math.max(2, Math.round(Math.sqrt((seconds ?? 0) / longest) * BAR.height))
    const failed = outcome !== 'done' && outcome !== 'running'
    return html`<rect class="${failed ? 'bar failed' : 'bar'}" x="${i * BAR.width}" y="${BAR.height - height}" width="${BAR.width - 3}" height="${height}"><title>${words.runs.number} ${id}: ${words.runs.outcomes[outcome]}</title></rect>`
  })
  return html`<svg class="durations" viewBox="0 0 ${runs.length * BAR.width} ${BAR.height}" width="${runs.length * BAR.width}" height="${BAR.height}" role="img" aria-label="${words.runs.strip(runs.length, duration(longest))}">${bars}</svg>`
}

const row = (run: RunRow, request: PageRequest): Html => {
  const { link } = request
  return html`<tr>
<th scope="row"><a href="${link(`/runs/${run.id}`)}">${run.id}</a></th>
<td>${serviceText(run.command)} ${serviceText(run.job)}</td><td>${timeElement(request, run.started_at)}</td>
<td class="number">${run.seconds === null ? '' : duration(run.seconds)}</td><td>${outcomeMark(run.outcome, request)}</td>
<td class="number">${countText(request, run.requests)}</td><td class="number">${countText(request, run.failed)}</td>
<td class="number">${countText(request, run.rows_new)}</td><td class="number">${countText(request, run.rows_revised)}</td>
<td>${serviceText(run.message)}</td></tr>
`
}

/** `/runs`: what ran, what failed. */
export const runsView = view({
  async read({ store, query }) {
    const list = await readRuns(store, wholeOf(query, 'before'))
    // Only a database on a server has queues.
    const queues = query.has('before') ? null : await readQueues(store)
    return { ...list, ...(queues ? { queues } : {}) }
  },
  show({ runs: rows, older, queues }, request) {
    const { words, query } = request
    const { runs: own } = words
    if (rows.length === 0)
      return html`<p>${own.none} ${own.noneHint}</p>${command(request.command('sync my-market.yaml'))}${queues && queuesTable(queues, request)}`
    return html`<p>${own.about}</p>
<figure>${runStrip(rows, request)}</figure>
${scrolled(
  words.common.pages.runs,
  html`<table>
<thead><tr><th scope="col">${own.number}</th><th scope="col">${own.what}</th><th scope="col">${own.started}</th><th scope="col" class="number">${own.length}</th><th scope="col">${own.outcome}</th><th scope="col" class="number">${own.requests}</th><th scope="col" class="number">${own.failed}</th><th scope="col" class="number">${own.fresh}</th><th scope="col" class="number">${own.revised}</th><th scope="col">${own.message}</th></tr></thead>
<tbody>
${rows.map((run) => row(run, request))}</tbody></table>`,
)}
${neighbours(request, '/runs', { before: query.has('before') ? {} : null, after: older === null ? null : { before: older } })}
${queues && queuesTable(queues, request)}`
  },
})
