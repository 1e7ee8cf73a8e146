import { formatUtc, HOUR } from '../../util/time/instant.ts'
import type { Interval } from '../../util/time/interval.ts'
import { formatLocal } from '../../util/time/zone.ts'
import { figure, seriesDrawing } from '../charts/figure.ts'
import { valueRange } from '../client/segments.ts'
import { type Column, numberedPager, table } from '../elements.ts'
import { countText, hoursText, momentText, mostDecimals, numberText, signedText, timeText } from '../formats.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import {
  csvResponse,
  NotFound,
  numberIn,
  type PageRequest,
  pageOf,
  paginate,
  type Query,
  type Responder,
  view,
  wholeNumber,
} from '../page.ts'
import { type Change, isExamined, readChanges } from '../queries/series/changes.ts'
import { subtract } from '../queries/series/difference.ts'
import {
  countRevisedValues,
  type RevisedValue,
  type RunRevisions,
  readRevisedValues,
  readRevisions,
  requireExamined,
} from '../queries/series/revisions.ts'
import {
  type ChartQuery,
  type NamedLine,
  rangeQuery,
  readChartQuery,
  versionsStatement,
} from '../queries/series/seriesQuery.ts'
import { MAX_VINTAGES, readVintages, type Vintages } from '../queries/series/vintages.ts'

/** Rows of the list of changes, and of the values of one. */
const CHANGES_A_PAGE = 10
const VALUES_A_PAGE = 100

/** Reads one page of what each run changed in a range, newest first, and the versions to compare. */
export async function readRevisionsPart(
  request: PageRequest,
  { line, range }: Pick<ChartQuery, 'line' | 'range'>,
  changes: readonly Change[],
  moments: string[] | undefined,
) {
  const { page, pages, shown } = paginate(request, changes.toReversed(), CHANGES_A_PAGE)
  const isListed = isExamined(range)
  return {
    page,
    pages,
    isListed,
    rows: isListed ? await readRevisions(request.store, { ...line, ...range }, shown) : [],
    vintages: await readVintages(request, line, range, changes, moments),
  }
}

type RevisionsPart = Awaited<ReturnType<typeof readRevisionsPart>>

/** What the section of a series page needs from that page. */
interface Section {
  readonly line: NamedLine
  readonly range: ChartQuery['range']
  readonly revisions: RevisionsPart
  /** The address of the same page with other parameters. */
  readonly here: (changed: Query) => string
}

const CHOICE = 'vintages'

/** A link to the values that a run changed. */
const valuesAddress = ({ line, range }: Pick<Section, 'line' | 'range'>, run: number, { link }: PageRequest) =>
  link(`/revisions/${line.path}/${line.geoId}/${run}`, rangeQuery(line.zone, range))

/** The changes of a range as a table: a row for each run. */
function changesTable({ line, range, revisions, here }: Section, request: PageRequest): Html {
  const { words, locale, link } = request
  const { revisions: labels, common } = words
  const { vintages } = revisions
  const count = (head: string, read: (row: RunRevisions) => number): Column<RunRevisions> => [
    head,
    (row) => countText(request, read(row)),
    'number',
  ]
  const difference = (head: string, read: (row: RunRevisions) => number | null): Column<RunRevisions> => [
    head,
    (row) => signedText(read(row), locale),
    'number',
  ]
  const isDrawn = (moment: string): boolean => vintages?.lines.some(({ at }) => at === moment) ?? false
  return table(labels.heading, revisions.rows, [
    [
      labels.moment,
      ({ at, before }) =>
        html`<a href="${here({ asof: before })}" title="${labels.knownBefore}">${momentText(line.zone, at)}</a>`,
    ],
    [common.run, ({ run }) => html`<a href="${link(`/runs/${run}`)}">${run}</a>`],
    count(labels.changed, ({ changed }) => changed),
    count(labels.withdrawn, ({ withdrawn }) => withdrawn),
    count(labels.added, ({ added }) => added),
    difference(labels.mean, ({ mean }) => mean),
    difference(labels.largest, ({ largest }) => largest),
    [labels.hours, ({ seconds }) => hoursText(seconds, locale), 'number'],
    [
      labels.values,
      ({ run, at }) => {
        const label = labels.valuesOf(momentText(line.zone, at))
        return html`<a href="${valuesAddress({ line, range }, run, request)}" aria-label="${label}">${labels.open}</a>`
      },
    ],
    vintages !== null && [
      labels.drawn,
      ({ at }) => {
        const field = html`form="${CHOICE}" name="${CHOICE}" value="${at}"`
        const label = labels.draw(momentText(line.zone, at))
        return html`<input type="checkbox" ${field} aria-label="${label}"${isDrawn(at) && html` checked`}>`
      },
    ],
  ])
}

/** Several versions of the same days, drawn over one another; a line opens the chart as known then. */
function vintagesChart(vintages: Vintages, { line, here }: Section, request: PageRequest): Html {
  const { revisions: labels, series } = request.words
  const { zone } = line
  const older = vintages.lines.slice(0, -1)
  const newest = vintages.lines.at(-1)!
  const item = ({ at, run, drawn }: Vintages['lines'][number], style: string): Html => {
    const moment = html`<a href="${here({ asof: at })}">${momentText(zone, at)}</a>`
    const runName = run !== null && ` · ${series.run(String(run))}`
    const noValues = valueRange([drawn]) === undefined && html` <span class="bad">${series.noValues}</span>`
    return html`<li class="${style}">${moment}${runName}${noValues}</li>\n`
  }
  const label = labels.picture(timeText(zone, vintages.from), timeText(zone, vintages.to))
  const { from, to, unit, ticks } = vintages
  const compared = older.map(({ drawn }) => ({ drawn, unit }))
  const chart = { from, to, unit, ticks, compared, now: newest.drawn, before: null, states: [], steps: [] }
  return html`<h3>${labels.vintages}</h3>
<p class="soft">${label}${vintages.bucket !== null && ` · ${vintages.bucket}`}</p>
<ul class="legend">${older.map((line, i) => item(line, `with-${i}`))}${item(newest, 'now')}</ul>
${figure(seriesDrawing(chart), label, request.locale)}`
}

/** The form that draws other versions; its boxes are in the table. */
const vintagesForm = (request: PageRequest): Html => {
  const { query, path, words } = request
  const others = [...query].filter(([name]) => name !== CHOICE)
  const kept = others.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
  const button = html`<button>${words.revisions.redraw(MAX_VINTAGES)}</button>`
  return html`<form id="${CHOICE}" method="get" action="${path}#revisions">${kept}${button}</form>`
}

/** The section of a series page: its changes by run, and several versions of its values. */
export function revisionsSection(section: Section, request: PageRequest): HtmlPart {
  const { line, range, revisions } = section
  const { revisions: labels, series, common } = request.words
  const { link } = request
  const { page, pages, isListed, rows, vintages } = revisions
  if (isListed && rows.length === 0) return null
  const { path, geoId, zone, indicator, unit } = line
  const file = link(`/api/revisions/${path}/${geoId}`, rangeQuery(zone, range))
  const all = link('/sql', { sql: versionsStatement(range, line) })
  const byAge = link('/sql', { recipe: 'revisions-by-age', 'p.indicator': indicator })
  const csv = isListed && html`<a href="${file}" download>${series.csv}</a> · `
  const unitText = unit && html` ${common.unit}: <bdi>${unit}</bdi>.`
  const listed = html`<p class="soft">${labels.hint}${unitText}</p>${changesTable(section, request)}`
  const pageLinks = numberedPager(request, page, pages, '#revisions')
  return html`<section id="revisions"><h2>${labels.heading}</h2>
${isListed ? html`${listed}${pageLinks}` : html`<p>${labels.tooLong}</p>`}
<p>${csv}<a href="${all}">${labels.allVersions}</a> · <a href="${byAge}">${labels.byAge}</a></p>
${vintages !== null && html`${vintagesForm(request)}${vintagesChart(vintages, section, request)}`}</section>`
}

/** Finds the change of a range by a run. */
async function findChange({ store }: PageRequest, line: NamedLine, range: Interval, run: number | null) {
  const change = (await readChanges(store, line, range)).find((change) => change.run === run)
  if (!change) throw new NotFound(`revisions of run ${run}`)
  return change
}

/** Reads one page of the values that a run changed in a range. */
async function readRunRevisions(request: PageRequest) {
  const { store, params } = request
  const { line, range } = await readChartQuery(request)
  requireExamined(range)
  const change = await findChange(request, line, range, wholeNumber(params.run))
  const lineInRange = { ...line, ...range }
  const count = await countRevisedValues(store, lineInRange, change.run)
  const { page, pages, offset } = pageOf(request, count, VALUES_A_PAGE)
  return {
    /** The line, by its name in the JSON of the page. */
    dataset: line,
    range,
    summary: (await readRevisions(store, lineInRange, [change]))[0]!,
    page,
    pages,
    rows: await readRevisedValues(store, lineInRange, change.run, { limit: VALUES_A_PAGE, offset }),
  }
}

/** `/revisions/600/3/7`: the values that a run changed, withdrew or added, each with the one before. */
export const runRevisionsView = view({
  read: readRunRevisions,
  title: ({ dataset: line, summary }, { words }) => words.revisions.title(line.name, summary.run),
  show({ dataset: line, range, summary, page, pages, rows }, request) {
    const { words, link, locale } = request
    const { revisions: labels, series, common } = words
    const { zone, path, geoId, unit } = line
    const { run, at, before, changed, withdrawn, added } = summary
    const decimals = mostDecimals(rows.flatMap((row) => [row.before, row.after]))
    const number = (head: string, read: (row: RevisedValue) => number | null): Column<RevisedValue> => [
      head,
      (row) => numberText(read(row), locale, decimals) || '–',
      'number',
    ]
    const borders = rangeQuery(zone, range)
    const counts = [
      [labels.changed, changed],
      [labels.withdrawn, withdrawn],
      [labels.added, added],
    ] as const
    const file = link(`/api/revisions/${path}/${geoId}`, { ...borders, run })
    const knownBefore = link(`/series/${path}`, { geo: geoId, ...borders, asof: before })
    const links = [
      html`<a href="${knownBefore}">${labels.knownBefore}</a> · `,
      html`<a href="${link(`/runs/${run}`)}">${common.run} ${run}</a>, ${momentText(zone, at)} · `,
      html`<a href="${file}" download>${series.csv}</a>`,
    ]
    const countTexts = counts.map(([name, count]) => `${countText(request, count)} ${name.toLowerCase()}`)
    return html`<p>${links}</p>
<p>${timeText(zone, range.from)} – ${timeText(zone, range.to)}: ${countTexts.join(', ')}</p>
${table(
  labels.values,
  rows,
  [
    [
      series.period,
      (row) => html`<a href="${link(`/explain/${path}/${geoId}/${row.at}`)}">${timeText(zone, row.at)}</a>`,
    ],
    number(series.before, (row) => row.before),
    number(series.after, (row) => row.after),
    [series.difference, (row) => signedText(subtract(row.after, row.before), locale, decimals), 'number'],
  ],
  { style: 'values', caption: html`<caption>${labels.values}${unit && `, ${unit}`}</caption>` },
)}
${numberedPager(request, page, pages)}`
  },
})

/**
 * `/api/revisions/600/3`: what each run changed in a range, newest first; with `run`, the values that it changed, each with the one
 * before.
 */
export const revisionsCsv: Responder = async (request) => {
  const { store, query } = request
  const { line, range } = await readChartQuery(request)
  requireExamined(range)
  const { zone, path, geoId } = line
  const lineInRange = { ...line, ...range }
  const run = numberIn(query, 'run')
  const name = `${path}-${geoId}-revisions${run === null ? '' : `-run-${run}`}.csv`
  if (run !== null) {
    const change = await findChange(request, line, range, run)
    const values = await readRevisedValues(store, lineInRange, change.run)
    const rows = values.map(({ at, before, after }) => [
      formatUtc(at),
      formatLocal(zone, at),
      before,
      after,
      subtract(after, before),
    ])
    return csvResponse(name, ['at_utc', 'at_local', 'before', 'after', 'difference'], [rows])
  }
  const changes = (await readChanges(store, line, range)).toReversed()
  const rows = (await readRevisions(store, lineInRange, changes)).map((row) => [
    row.run,
    row.at,
    row.changed,
    row.withdrawn,
    row.added,
    row.mean,
    row.largest,
    row.seconds / HOUR,
    row.before,
  ])
  const counts = ['changed', 'withdrawn', 'new', 'mean_difference', 'largest_difference', 'hours']
  return csvResponse(name, ['run', 'recorded_at', ...counts, 'known_before'], [rows])
}
