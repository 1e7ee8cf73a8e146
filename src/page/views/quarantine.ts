import { type Html, html } from '../html.ts'
import { type PageRequest, view, wholeOf } from '../page.ts'
import { readQuarantine } from '../queries/quarantine.ts'
import { command, neighbours, scrolled, serviceText } from './elements.ts'
import { timeElement } from './times.ts'

type Data = Awaited<ReturnType<typeof readQuarantine>>

const row = (one: Data['entries'][number], request: PageRequest): Html => html`<tr><th scope="row">${one.id}</th>
<td><a href="${request.link(`/runs/${one.run_id}`)}">${timeElement(request, one.created_at)}</a></td><td><code>${serviceText(one.target)}</code></td>
<td><code>${serviceText(one.path)}</code></td><td>${serviceText(one.reason, 'en')}</td><td><code>${serviceText(one.fragment)}</code></td></tr>
`

/** `/quarantine`: what could not be understood. */
export const quarantineView = view<Data>({
  read: ({ store, query }) => readQuarantine(store, wholeOf(query, 'before')),
  show({ entries, older }, request) {
    const { words, query } = request
    const { rejects: own } = words.runs
    if (entries.length === 0) return html`<p>${own.none}</p>`
    return html`<p>${own.about}</p>
${scrolled(
  words.common.pages.quarantine,
  html`<table>
<thead><tr><th scope="col">${own.number}</th><th scope="col">${own.found}</th><th scope="col">${own.request}</th><th scope="col">${own.path}</th><th scope="col">${own.reason}</th><th scope="col">${own.fragment}</th></tr></thead>
<tbody>
${entries.map((one) => row(one, request))}</tbody></table>`,
)}
${neighbours(request, '/quarantine', { before: query.has('before') ? {} : null, after: older === null ? null : { before: older } })}
<p>${own.replay}</p>${command(request.command('quarantine replay'))}
<p>${own.dismiss}</p>${command(request.command(`quarantine dismiss ${entries[0]!.id} --reason "…"`))}`
  },
})
