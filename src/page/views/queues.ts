import type { QueueState } from '../../db/queries/queues.ts'
import { type Html, html } from '../html.ts'
import type { PageRequest } from '../page.ts'
import { scrolled, serviceText } from './elements.ts'
import { countText } from './numbers.ts'

/** The queues of a shared database; nothing if there is none. */
export function queuesTable(queues: readonly QueueState[], request: PageRequest): Html | null {
  const own = request.words.queues
  if (queues.length === 0) return null
  const rows = queues.map(
    ({ host, queued, active, dead }) =>
      html`<tr><th scope="row">${serviceText(host)}</th><td class="number">${countText(request, queued)}</td><td class="number">${countText(request, active)}</td><td class="number">${countText(request, dead)}</td></tr>
`,
  )
  const table = html`<table>
<thead><tr><th scope="col">${own.host}</th><th scope="col" class="number">${own.waiting}</th><th scope="col" class="number">${own.active}</th><th scope="col" class="number">${own.dead}</th></tr></thead>
<tbody>
${rows}</tbody></table>
<p>${own.deadHint}</p>`
  return html`<h2>${own.heading}</h2>
${scrolled(own.heading, table)}`
}
