import { ALL_GEOS } from '../../db/tables/codes.ts'
import { SIGNS } from '../client/signs.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { type PageRequest, view } from '../page.ts'
import { type Coverage, type CoverageOf, readCoverage, readCoverageOf } from '../queries/coverage.ts'
import { COVERAGE_STATES, type Shares, worstOf } from '../queries/intervals.ts'
import { commandLine, groupingText, jobFile, kindText, pager, scrolled, serviceText } from './elements.ts'
import { sharesText, stateLegend } from './strip.ts'
import { localText } from './times.ts'

type CoverageSeries = Coverage['series'][number]

const headName = (request: PageRequest, head: Omit<CoverageSeries, 'years'>): string =>
  [
    kindText(head.kind, request),
    head.indicatorId,
    head.name,
    groupingText(request, head) === '' ? null : `(${groupingText(request, head)})`,
  ]
    .filter((part) => part !== null)
    .join(' ')

/** Bars of shares: each is drawn once in a page, and shown by reference in every cell with these shares. */
interface Bars {
  of(shares: Shares): Html
  /** All bars drawn so far; they come after the tables. */
  drawn(): HtmlPart
}

function createBars(): Bars {
  const known = new Map<string, { readonly id: string; readonly shape: Html }>()
  return {
    of(shares) {
      // What is missing stays visible, however little it is.
      const widths = COVERAGE_STATES.filter((state) => (shares[state] ?? 0) > 0).map(
        (state) => [state, Math.max(2, Math.round(shares[state]! * 24))] as const,
      )
      const key = widths.join(' ')
      if (!known.has(key)) {
        let x = 0
        const parts = widths.map(([state, width]) => {
          x += width
          return html`<rect class="${state}" x="${x - width}" width="${width}" height="5"/>`
        })
        const id = `b${known.size}`
        const shape = html`<symbol id="${id}" viewBox="0 0 ${x} 5" preserveAspectRatio="none">${parts}</symbol>`
        known.set(key, { id, shape })
      }
      return html`<svg aria-hidden="true"><use href="#${known.get(key)!.id}"/></svg>`
    },
    drawn: () =>
      known.size > 0 &&
      html`<svg class="quiet" aria-hidden="true">${[...known.values()].map(({ shape }) => shape)}</svg>`,
  }
}

/** A cell of a table: words, which the style shows as the sign of the worst state, and a bar where there are several states. */
function cell(request: PageRequest, shares: Shares, href: string, name: string, bars: Bars): Html {
  const isOne = Object.keys(shares).length === 1
  return html`<td class="${worstOf(shares)}${!isOne && ' mixed'}"><a href="${href}">${name}: ${sharesText(request, shares)}${!isOne && bars.of(shares)}</a></td>`
}

function seriesList(data: Coverage, request: PageRequest): Html {
  const { coverage, common } = request.words
  const { link } = request
  const bars = createBars()
  const years = [...new Set(data.series.flatMap(({ years }) => years.map(({ year }) => year)))].sort((a, b) => a - b)
  return html`${request.live && html`<p>${coverage.about}</p>`}${stateLegend(request)}
${scrolled(
  coverage.caption,
  html`<table class="grid"><caption>${coverage.caption}</caption>
<thead><tr><th scope="col">${common.series}</th>${years.map((year) => html`<th scope="col">${year}</th>`)}</tr></thead>
<tbody>${data.series.map((head) => {
    const of = new Map(head.years.map(({ year, shares }) => [year, shares]))
    return html`<tr><th scope="row"><a href="${link(`/coverage/${head.path}`)}">${serviceText(headName(request, head))}</a></th>${years.map(
      (year) => {
        const shares = of.get(year)
        return shares
          ? cell(request, shares, link(`/coverage/${head.path}`, { year }), String(year), bars)
          : html`<td></td>`
      },
    )}</tr>\n`
  })}</tbody></table>`,
)}${bars.drawn()}${pager(request, data.page, data.pages)}`
}

/** The choice of a geo. */
function geoForm(data: CoverageOf, request: PageRequest): HtmlPart {
  const { words, link, path, live } = request
  if (data.geos.length <= 1 || !live) return null
  return html`<form action="${link(path)}" method="get"><label>${words.coverage.geoLabel} <select name="geo">
<option value="">${words.coverage.together}</option>
${data.geos.map(({ id, name }) => html`<option value="${id}"${id === data.geo && html` selected`}>${id === 0 ? words.common.allGeos : `${id} ${name ?? ''}`}</option>`)}
</select></label> ${data.year !== null && html`<input type="hidden" name="year" value="${data.year}">`}<button>${words.coverage.show}</button></form>`
}

/** The months in the language of the page. */
const monthNames = ({ locale }: PageRequest): string[] => {
  const { format } = new Intl.DateTimeFormat(locale, { month: 'long', timeZone: 'UTC' })
  return Array.from({ length: 12 }, (_, month) => format(Date.UTC(2025, month)))
}

/** Years by month; a cell leads to the days of its year. */
function yearTable(data: CoverageOf, request: PageRequest, bars: Bars): Html {
  const { coverage } = request.words
  const names = monthNames(request)
  const to = (year: number): string =>
    `${request.link(`/coverage/${data.path}`, { geo: data.geo ?? undefined, year })}#days`
  return scrolled(
    coverage.yearsCaption,
    html`<table class="grid"><caption>${coverage.yearsCaption}</caption>
<thead><tr><th scope="col">${coverage.year}</th>${names.map((month) => html`<th scope="col"><abbr title="${month}">${month.slice(0, 3)}</abbr></th>`)}</tr></thead>
<tbody data-grid>${data.years.map(
      ({ year, months }) =>
        html`<tr><th scope="row">${year}</th>${months.map((shares, i) => cell(request, shares, to(year), `${names[i]} ${year}`, bars))}</tr>\n`,
    )}</tbody></table>`,
  )
}

/** One year: a row a month, a column a day; a cell leads to the values of its day. */
function dayTable(data: CoverageOf & { readonly year: number }, request: PageRequest, bars: Bars): Html {
  const { coverage } = request.words
  const names = monthNames(request)
  const rows = Map.groupBy(data.days, ({ date }) => Number(date.slice(5, 7)))
  const caption = coverage.daysCaption(data.year)
  return html`<h2 id="days">${caption}</h2>${request.live && html`<p class="soft">${coverage.daysHint}</p>`}
${scrolled(
  caption,
  html`<table class="grid days">
<thead><tr><th scope="col">${coverage.month}</th>${Array.from({ length: 31 }, (_, i) => html`<th scope="col">${i + 1}</th>`)}</tr></thead>
<tbody data-grid>${[...rows].map(([month, days]) => {
    const byDay = new Map(days.map((day) => [Number(day.date.slice(8)), day]))
    return html`<tr><th scope="row">${names[month - 1]}</th>${Array.from({ length: 31 }, (_, i) => {
      const day = byDay.get(i + 1)
      if (!day) return html`<td></td>`
      const href = request.link(`/series/${data.path}`, { geo: data.geo || undefined, day: day.date })
      return cell(request, day.shares, href, day.date, bars)
    })}</tr>\n`
  })}</tbody></table>`,
)}`
}

/** How a gap is closed: by a command, or by the next sync. */
function remedy(hole: CoverageOf['holes'][number], data: CoverageOf, request: PageRequest): Html {
  const { coverage, home } = request.words
  const { reason, fromDate, toDate, nextAt } = hole
  const job = jobFile(data.jobFiles, data.jobs[0] ?? 'nightly')
  const range = `${job} --only ${data.indicatorId} --from ${fromDate} --to ${toDate}`
  const command = {
    failed: 'retry',
    unverified: 'retry',
    absent: `restate ${range}`,
    'never requested': `backfill ${range}`,
  }[reason!]
  const waits =
    reason === 'failed'
      ? home.alone
      : nextAt !== null
        ? coverage.again(localText(request, nextAt))
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
<td>${hole.geo === ALL_GEOS ? common.allGeos : serviceText(`${hole.geo} ${names.get(hole.geo) ?? ''}`)}</td>
<td><span class="cell ${hole.state}" aria-hidden="true">${SIGNS[hole.state]}</span> ${coverage.reasons[hole.reason!]}</td>
<td class="number">${hole.missing}</td><td>${remedy(hole, data, request)}</td></tr>\n`,
  )}</tbody></table>`,
)}${data.more > 0 && html`<p>${coverage.more(data.more)}</p>`}`
}

const hasYear = (data: CoverageOf): data is CoverageOf & { readonly year: number } => data.year !== null

/** `/coverage`: what do I have? */
export const coverageView = view<Coverage>({
  read: readCoverage,
  show: seriesList,
})

/** `/coverage/ID`: what do I have of this series, what is missing, why, and how do I get it? */
export const coverageOfSeriesView = view<CoverageOf>({
  read: readCoverageOf,
  title: (data, request) => `${request.words.common.pages.coverage}: ${headName(request, data)}`,
  show(data, request) {
    const { link, words } = request
    const bars = createBars()
    return html`<p><a href="${link(`/series/${data.path}`)}">${words.coverage.chart}</a></p>
${hasYear(data) ? html`${geoForm(data, request)}${stateLegend(request)}${yearTable(data, request, bars)}${dayTable(data, request, bars)}${bars.drawn()}${holeTable(data, request)}` : html`<p>${words.coverage.none}</p>`}`
  },
})
