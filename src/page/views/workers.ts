import type { Machines } from '../../checks/machines.ts'
import { SILENT_MS } from '../../db/queries/workers.ts'
import { type Html, html } from '../html.ts'
import type { PageRequest } from '../page.ts'
import { scrolled, serviceText } from './elements.ts'
import { countText } from './numbers.ts'
import { duration, timeElement } from './times.ts'

/** The workers of a shared database, and its queues; nothing where there are neither. */
export function workersOf({ workers, queues, now }: Machines, request: PageRequest): Html | null {
  const own = request.words.workers
  if (workers.length + queues.length === 0) return null
  const waiting = queues.map(
    ({ host, queued, active, dead }) =>
      html`<tr><th scope="row">${serviceText(host)}</th><td class="number">${countText(request, queued)}</td><td class="number">${countText(request, active)}</td><td class="number">${countText(request, dead)}</td></tr>
`,
  )
  const rows = workers.map(({ machine, pid, host, version, startedAt, seenAt, claims, done, draining, holding }) => {
    const silent = now - seenAt > SILENT_MS ? own.silent(duration(Math.round((now - seenAt) / 1000))) : null
    const state = [silent, draining ? own.draining : null, holding].filter((one) => one !== null)
    return html`<tr><th scope="row">${serviceText(`${machine} ${pid}`)}</th><td>${serviceText(host)}</td><td>${timeElement(new Date(startedAt).toISOString())}</td><td class="number">${countText(request, claims)}</td><td class="number">${countText(request, done)}</td><td>${serviceText(version)}</td><td>${serviceText(state.join('; '))}</td></tr>
`
  })
  const queued =
    queues.length === 0
      ? null
      : scrolled(
          own.queue,
          html`<table>
<thead><tr><th scope="col">${own.host}</th><th scope="col" class="number">${own.waiting}</th><th scope="col" class="number">${own.inHand}</th><th scope="col" class="number">${own.dead}</th></tr></thead>
<tbody>
${waiting}</tbody></table>
<p>${own.deadHint}</p>`,
        )
  const working =
    workers.length === 0
      ? html`<p>${own.nobody}</p>`
      : scrolled(
          own.heading,
          html`<table>
<thead><tr><th scope="col">${own.worker}</th><th scope="col">${own.host}</th><th scope="col">${own.since}</th><th scope="col" class="number">${own.inHand}</th><th scope="col" class="number">${own.done}</th><th scope="col">${own.version}</th><th scope="col">${own.state}</th></tr></thead>
<tbody>
${rows}</tbody></table>`,
        )
  return html`<h2>${own.heading}</h2>
${working}
${queued}`
}
