import { type Html, html, type Part } from '../html.ts'
import { type PageRequest, view } from '../page.ts'
import { type Coverage, type CoverageOf, readCoverage, readCoverageOf } from '../queries/coverage.ts'
import { type Shares, STATES, worstOf } from '../queries/stretches.ts'
import { bdi, commandLine, pager, scrolled, stepText } from './parts.ts'
import { legend, SIGNS, sharesText } from './strip.ts'

type Head = Coverage['series'][number]

const nameOf = (request: PageRequest, head: Omit<Head, 'years'>): string =>
  [
    head.kind === 'indicator' ? null : request.words.common.offer,
    head.indicatorId,
    head.name,
    stepText(request, head) === '' ? null : `(${stepText(request, head)})`,
  ]
    .filter((part) => part !== null)
    .join(' ')

/** A bar of the shares of a cell, for cells that have several. */
function bar(shares: Shares): Html {
  let x = 0
  const parts = STATES.filter((state) => (shares[state] ?? 0) > 0).map((state) => {
    // What is missing is seen however little it is.
    const width = Math.max(2, Math.round(shares[state]! * 24))
    const rect = html`<rect class="${state}" x="${x}" width="${width}" height="5"/>`
    x += width
    return rect
  })
  return html`<svg viewBox="0 0 ${x} 5" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>`
}

const isOne = (shares: Shares): boolean => Object.keys(shares).length === 1

/** A cell of a table: the sign of its worst state, its shares where they are several, in words for whoever does not see it. */
const cell = (request: PageRequest, shares: Shares, href: string, name: string): Html =>
  html`<td class="cell ${isOne(shares) ? worstOf(shares) : 'mixed'}"><a href="${href}" aria-label="${name}: ${sharesText(request, shares)}">${SIGNS[worstOf(shares)]}${!isOne(shares) && bar(shares)}</a></td>`

function list(data: Coverage, request: PageRequest): Html {
  const { coverage, common } = request.words
  const { link } = request
  const years = [...new Set(data.series.flatMap(({ years }) => years.map(({ year }) => year)))].sort((a, b) => a - b)
  return html`<p>${coverage.about}</p>${legend(request)}
${scrolled(
  coverage.caption,
  html`<table class="grid"><caption>${coverage.caption}</caption>
<thead><tr><th scope="col">${common.series}</th>${years.map((year) => html`<th scope="col">${year}</th>`)}</tr></thead>
<tbody>${data.series.map((head) => {
    const of = new Map(head.years.map(({ year, shares }) => [year, shares]))
    return html`<tr><th scope="row"><a href="${link(`/coverage/${head.path}`)}">${bdi(nameOf(request, head))}</a></th>${years.map(
      (year) => {
        const shares = of.get(year)
        return shares ? cell(request, shares, link(`/coverage/${head.path}`, { year }), String(year)) : html`<td></td>`
      },
    )}</tr>\n`
  })}</tbody></table>`,
)}${pager(request, data.page, data.pages)}`
}

/** Which geo is looked at, of several. */
function geoForm(data: CoverageOf, request: PageRequest): Part {
  const { words, link, path, live } = request
  if (data.geos.length <= 1 || !live) return null
  return html`<form action="${link(path)}" method="get"><label>${words.coverage.geoLabel} <select name="geo">
<option value="">${words.coverage.together}</option>
${data.geos.map(({ id, name }) => html`<option value="${id}"${id === data.geo && html` selected`}>${id === 0 ? words.common.allGeos : `${id} ${name ?? ''}`}</option>`)}
</select></label> ${data.year !== null && html`<input type="hidden" name="year" value="${data.year}">`}<button>${words.coverage.show}</button></form>`
}

/** Years by month; a cell leads to the days of its year. */
function yearTable(data: CoverageOf, request: PageRequest): Html {
  const { coverage } = request.words
  const to = (year: number): string =>
    `${request.link(`/coverage/${data.path}`, { geo: data.geo ?? undefined, year })}#days`
  return scrolled(
    coverage.yearsCaption,
    html`<table class="grid"><caption>${coverage.yearsCaption}</caption>
<thead><tr><th scope="col">${coverage.year}</th>${coverage.months.map((month) => html`<th scope="col"><abbr title="${month}">${month.slice(0, 3)}</abbr></th>`)}</tr></thead>
<tbody data-grid>${data.years.map(
      ({ year, months }) =>
        html`<tr><th scope="row">${year}</th>${months.map((shares, i) => cell(request, shares, to(year), `${coverage.months[i]} ${year}`))}</tr>\n`,
    )}</tbody></table>`,
  )
}

/** The local day after a date. */
const dayAfter = (days: CoverageOf['days'], i: number): string => {
  const [year, month, day] = days[i]!.date.split('-').map(Number) as [number, number, number]
  return days[i + 1]?.date ?? new Date(Date.UTC(year, month - 1, day + 1)).toISOString().slice(0, 10)
}

/** One year: a row a month, a column a day; a cell leads to the values of its day. */
function dayTable(data: CoverageOf & { readonly year: number }, request: PageRequest): Html {
  const { coverage } = request.words
  const rows = Map.groupBy(
    data.days.map((day, i) => ({ ...day, next: dayAfter(data.days, i) })),
    ({ date }) => Number(date.slice(5, 7)),
  )
  const caption = coverage.daysCaption(data.year)
  return html`<h2 id="days">${caption}</h2><p class="soft">${coverage.daysHint}</p>
${scrolled(
  caption,
  html`<table class="grid days">
<thead><tr><th scope="col">${coverage.month}</th>${Array.from({ length: 31 }, (_, i) => html`<th scope="col">${i + 1}</th>`)}</tr></thead>
<tbody data-grid>${[...rows].map(([month, days]) => {
    const byDay = new Map(days.map((day) => [Number(day.date.slice(8)), day]))
    return html`<tr><th scope="row">${coverage.months[month - 1]}</th>${Array.from({ length: 31 }, (_, i) => {
      const day = byDay.get(i + 1)
      if (!day) return html`<td></td>`
      return cell(
        request,
        day.shares,
        request.link(`/series/${data.path}`, { geo: data.geo || undefined, from: day.date, to: day.next }),
        day.date,
      )
    })}</tr>\n`
  })}</tbody></table>`,
)}`
}

/** What mends a hole: a command, or that a sync does by itself. */
function mends(hole: CoverageOf['holes'][number], data: CoverageOf, request: PageRequest): Html {
  const { coverage, home } = request.words
  const { reason, fromDate, toDate, nextAt } = hole
  const job = `jobs/${data.jobs[0] ?? 'nightly'}.yaml`
  const range = `${job} --only ${data.indicatorId} --from ${fromDate} --to ${toDate}`
  const command = { failed: 'retry', doubt: 'retry', absent: `restate ${range}`, unasked: `backfill ${range}` }[reason!]
  const waits =
    reason === 'failed'
      ? home.alone
      : nextAt !== null
        ? coverage.again(nextAt.slice(0, 16).replace('T', ' '))
        : reason === 'absent'
          ? coverage.never
          : null
  return html`${waits !== null && html`<span>${waits}</span> `}${commandLine(request.command(command))}`
}

function holeTable(data: CoverageOf & { readonly year: number }, request: PageRequest): Html {
  const { coverage, common } = request.words
  const caption = coverage.holes(data.year)
  if (data.holes.length === 0) return html`<h2>${caption}</h2><p class="good">${coverage.noHoles}</p>`
  const names = new Map(data.geos.map(({ id, name }) => [id, name]))
  return html`<h2>${caption}</h2>
${scrolled(
  caption,
  html`<table><thead><tr>${[coverage.from, coverage.to, common.geo, coverage.why, coverage.count, coverage.mend].map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${data.holes.map(
    (
      hole,
    ) => html`<tr><td><time datetime="${hole.from}">${hole.from}</time></td><td><time datetime="${hole.to}">${hole.to}</time></td>
<td>${hole.geo === 0 ? common.allGeos : bdi(`${hole.geo} ${names.get(hole.geo) ?? ''}`)}</td>
<td><span class="cell ${hole.state}" aria-hidden="true">${SIGNS[hole.state]}</span> ${coverage.reasons[hole.reason!]}</td>
<td class="number">${hole.missing}</td><td>${mends(hole, data, request)}</td></tr>\n`,
  )}</tbody></table>`,
)}${data.more > 0 && html`<p>${coverage.more(data.more)}</p>`}`
}

const isKnown = (data: CoverageOf): data is CoverageOf & { readonly year: number } => data.year !== null

/** `/coverage`: what do I have? */
export const coverage = view<Coverage>({
  read: readCoverage,
  show: list,
})

/** `/coverage/ID`: what do I have of this series, what is missing, why, and what mends it? */
export const coverageOf = view<CoverageOf>({
  read: readCoverageOf,
  title: (data, request) => `${request.words.common.pages.coverage}: ${nameOf(request, data)}`,
  show: (data, request) =>
    html`<p><a href="${request.link(`/series/${data.path}`)}">${request.words.coverage.chart}</a></p>
${isKnown(data) ? html`${geoForm(data, request)}${legend(request)}${yearTable(data, request)}${dayTable(data, request)}${holeTable(data, request)}` : html`<p>${request.words.coverage.none}</p>`}`,
})
