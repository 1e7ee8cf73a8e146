import { GOOD_OUTCOMES } from '../../db/queries/fetchOutcomes.ts'
import type { Recipe } from '../../reports/recipes/recipe.ts'
import { oneLine } from '../../util/text.ts'
import { draw, drawNames } from '../charts/drawing.ts'
import { figure, namesFigure } from '../charts/figure.ts'
import { ON_WHITE, PICTURE_FRAME, pictureText } from '../charts/picture.ts'
import {
  chooseChart,
  describeColumns,
  isDrawable,
  LINE_STYLES,
  namedBars,
  type ResultChoice,
  readLines,
  resultDrawing,
} from '../charts/resultChart.ts'
import { sourceLines } from '../charts/seriesPicture.ts'
import { options, pictureLinks } from '../elements.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import type { PageRequest, Query } from '../page.ts'
import type { CollectedResult } from '../statementQueue.ts'
import { translation } from '../words/words.ts'
import type { Parameter } from './sqlParameters.ts'

/* The chart of a result on the SQL page, and as a picture. */

/** A statement with its result. */
export interface ShownResult {
  readonly result: CollectedResult
  readonly recipe: Recipe | undefined
  readonly parameters: readonly Parameter[]
  /** The query of an address with the statement. */
  readonly address: Query
}

/** The part of an address that chooses a chart; empty if it chooses none. */
export function chosenChart(query: URLSearchParams): Query {
  const y = query.getAll('y').join(',')
  const chosen = { chart: query.get('chart'), x: query.get('x'), y: y === '' ? null : y, by: query.get('by') }
  return Object.fromEntries(Object.entries(chosen).flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
}

/** The unit that the result states for the drawn columns; null if it has none, or several. */
function findUnit({ columns, rows }: CollectedResult, { y }: ResultChoice, recipe: Recipe | undefined): string | null {
  const chart = recipe?.chart
  const at = columns.indexOf(chart?.unit ?? '')
  if (!chart || at < 0 || y.some((name) => !chart.y.includes(name))) return null
  const units = new Set(rows.map((row) => row[at]))
  const [unit] = units
  return units.size === 1 && typeof unit === 'string' ? oneLine(unit) : null
}

/** Reads the chart of a result; null if there is none. */
function readChart({ result, recipe }: ShownResult, { query, service, locale }: PageRequest) {
  const columns = describeColumns(result)
  const choice = chooseChart(result, columns, query, recipe?.chart ?? null)
  if (choice === null) return { columns, choice, chart: null }
  const lines = readLines(result, columns, choice, service.timeZone)
  const names = lines.content === 'text' ? namedBars(lines, locale) : null
  const drawing = names ? null : resultDrawing(lines, choice.kind, findUnit(result, choice, recipe), locale)
  return { columns, choice, chart: { lines, names, drawing, leftOut: lines.leftOut + (names?.leftOut ?? 0) } }
}

/** A result with a chart. */
type DrawnResult = Extract<ReturnType<typeof readChart>, { readonly chart: object }>

/** The columns of a chart, to choose others. */
function columnForm(
  { address }: ShownResult,
  { x, y, by, kind }: ResultChoice,
  columns: ReturnType<typeof describeColumns>,
  { words: { charts: labels, common }, link }: PageRequest,
): Html {
  const known = columns.filter(({ content }) => content !== null)
  const names = known.map(({ name }) => [name, name] as const)
  const values = known.filter(({ name, isValue }) => isValue && name !== x)
  const kept = Object.entries({ ...address, chart: kind }).map(
    ([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`,
  )
  const boxes = values.map(({ name }) => {
    const box = html`<input type="checkbox" name="y" value="${name}"${y.includes(name) && html` checked`}>`
    return html`<label>${box} <bdi>${name}</bdi></label> `
  })
  return html`<form class="choose" action="${link('/sql')}">
${kept}
<label>${labels.x} <select name="x">${options<string>(names, x)}</select></label>
<fieldset class="inline"><legend>${labels.y}</legend>${boxes}</fieldset>
<label>${labels.by} <select name="by">${options<string>([['', labels.none], ...names], by ?? '')}</select></label>
<button>${common.show}</button></form>`
}

/** The choice of table, line and bars, and the chart above the table; nothing for a result without numbers. */
export function chartSection(shown: ShownResult, request: PageRequest): HtmlPart {
  const { words, link, query } = request
  const { charts: labels, series } = words
  const { columns, choice, chart } = readChart(shown, request)
  if (!isDrawable(columns)) return null
  const isNames = chart?.names ?? (choice === null && columns[0]!.content === 'text')
  const kinds = [
    ['table', series.table] as const,
    ...(isNames ? [] : [['line', labels.line] as const]),
    ['bars', labels.bars] as const,
  ]
  const chosen = chosenChart(query)
  const current = choice?.kind ?? 'table'
  const to = (path: string, kind: string): string => link(path, { ...shown.address, ...chosen, chart: kind })
  const links = kinds.map(([kind, label]) => {
    const isCurrent = kind === current && html` aria-current="true"`
    return html`<a href="${to('/sql', kind)}"${isCurrent}>${label}</a>\n`
  })
  const files = chart && pictureLinks(request, to('/sql.svg', current), shown.recipe?.name ?? 'result')
  return html`<nav class="spans" aria-label="${labels.chartKind}">${links}${files}</nav>
${choice && chart && chartPanel(shown, { columns, choice, chart }, request)}`
}

/** The chart with its legend, notes on what it leaves out, and the choice of columns. */
function chartPanel(shown: ShownResult, { columns, choice, chart }: DrawnResult, request: PageRequest): Html {
  const { words, locale } = request
  const { charts: labels, common } = words
  const { result } = shown
  const label = labels.label(choice.y.join(', '), choice.x)
  const entries = chart.lines.lines.map(
    ({ name }, i) => html`<li class="${LINE_STYLES[i]}"><bdi>${oneLine(name)}</bdi></li>`,
  )
  return html`<section class="panel" aria-label="${common.chart}">
<ul class="legend${choice.kind === 'bars' && ' bars'}" data-part="legend">${entries}</ul>
${chart.names ? namesFigure(chart.names, label) : figure(chart.drawing!, label, locale)}
${chart.lines.hidden > 0 && html`<p class="bad">${labels.hidden(chart.lines.hidden)}</p>`}
${result.cut !== null && html`<p class="soft">${words.sql.drawnRows(result.rows.length)}</p>`}
${chart.leftOut > 0 && html`<p class="soft">${labels.leftOut(chart.leftOut)}</p>`}
${columnForm(shown, choice, columns, request)}
</section>`
}

/** The first sentence of the question of a recipe, in the language of the page. */
function questionText({ name, question }: Recipe, locale: string): string {
  const text = translation(locale, 'recipes', name) ?? question
  return /^[^?.]*[?.]?/.exec(text)![0]
}

/** When data was last fetched (UTC); null for a copy without that. */
async function readLastFetch({ store: { kysely } }: PageRequest): Promise<string | null> {
  const last = await kysely
    .selectFrom('_fetch')
    .select('finished_at')
    .where('outcome', 'in', GOOD_OUTCOMES)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return last?.finished_at ?? null
}

/** Draws the chart of a result as a picture; null if it has none. */
export async function drawResult(shown: ShownResult, request: PageRequest): Promise<string | null> {
  const { recipe, parameters, result } = shown
  const { words, locale, service } = request
  const { choice, chart } = readChart(shown, request)
  if (!choice || !chart) return null
  const names = chart.names && drawNames(chart.names, PICTURE_FRAME.width, ON_WHITE)
  const sample = choice.kind === 'line' ? 'line' : 'bar'
  const indicators = parameters.flatMap(({ type, value }) => (type.startsWith('indicator') && value ? [value] : []))
  const what =
    indicators.length > 0
      ? `${words.charts.indicator} ${indicators.join(', ').replaceAll(/\s*,\s*/g, ', ')}`
      : words.charts.statement
  const given = parameters.flatMap(({ name, value }) => (value === '' ? [] : [`${name} = ${value}`]))
  const notes = [
    result.cut === null ? null : words.sql.drawnRows(result.rows.length),
    chart.leftOut > 0 ? words.charts.leftOut(chart.leftOut) : null,
  ]
  return pictureText(
    {
      title: recipe ? questionText(recipe, locale) : words.charts.statement,
      facts: [...(chart.drawing?.unit ? [chart.drawing.unit] : []), ...given, ...notes.flatMap((note) => note ?? [])],
      legend: chart.lines.lines.map(({ name }, i) => ({ sample, style: LINE_STYLES[i]!, text: name })),
      body: names ? names.body : draw({ ...chart.drawing!, hints: [] }, PICTURE_FRAME, ON_WHITE, locale),
      bodyHeight: names ? names.height : PICTURE_FRAME.height,
      source: await sourceLines(request, what, service.timeZone, await readLastFetch(request)),
    },
    locale,
  )
}
