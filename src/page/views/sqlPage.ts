import { dictionaryRows } from '../../db/tables/dictionary.ts'
import { isNeeded } from '../../reports/recipes/recipe.ts'
import { recipesFor } from '../../reports/recipes/recipes.ts'
import { parseParameter, type StatementRequest } from '../../reports/statements/runner.ts'
import { InputError, StoppedError, SyncError } from '../../util/errors.ts'
import { shellWord, visible } from '../../util/text.ts'
import type { Interval } from '../../util/time/interval.ts'
import type { Drawn } from '../client/segments.ts'
import { command, messageText, programText, scrolled, table } from '../elements.ts'
import { figure } from '../figure.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { type Answering, csvAnswer, type PageRequest, view } from '../page.ts'
import { namedGeos } from '../queries/names.ts'
import { segmentsOf } from '../queries/series/window.ts'
import { createStatementRunner, STATEMENT_LIMITS, type StatementAnswer } from '../statementQueue.ts'

/** Letters of a statement. */
const LONGEST_SQL = 20_000
/** Begins the names of fields that hold the parameters of a statement. */
const PARAMETER_PREFIX = 'p.'
/** Geos that are offered for a parameter. */
const MAX_OFFERED_GEOS = 200
/** How many lines can be distinguished. */
const MAX_CHART_LINES = 4
/** The most letters of all cells that a page shows, and of one cell; the file has all. */
const [SHOWN_LETTERS, SHOWN_CELL_LETTERS] = [16_000, 200]

/** Statements run in processes that all pages share and that end with this one. */
const runner = createStatementRunner()

/** The names of the parameters of a statement, each once: `:name`, `@name` and `$name`, but not in texts, names and comments. */
function parametersIn(sql: string): string[] {
  const bare = sql.replaceAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, ' ')
  return [...new Set([...bare.matchAll(/[:@$]([A-Za-z_]\w*)/g)].map(([, name]) => name!))]
}

/** The statement in an address with its parameters, or a recipe with its defaults. */
function givenStatement({ service, query }: PageRequest) {
  const recipe = recipesFor(service).find(({ name }) => name === query.get('recipe'))
  const sql = (query.get('sql') ?? recipe?.sql ?? '').slice(0, LONGEST_SQL)
  // As they were written; empty for no value.
  const parameters = parametersIn(sql).map((name) => ({
    name,
    value: query.get(`${PARAMETER_PREFIX}${name}`) ?? String(recipe?.parameters[name] ?? ''),
  }))
  return { sql, recipe: recipe?.name ?? null, parameters }
}

type GivenStatement = ReturnType<typeof givenStatement>

/** Runs a statement in a process that can be ended; null where there is none yet. Throws as the runner does. */
async function runGiven<Answer>(
  { store: { address }, query }: PageRequest,
  { sql, parameters }: GivenStatement,
  run: (statement: StatementRequest) => Promise<Answer>,
): Promise<Answer | null> {
  // A user who opens the page will run a statement.
  if (!query.has('sql') || sql.trim() === '') {
    runner.warm()
    return null
  }
  const values = Object.fromEntries(
    parameters.map(({ name, value }) => [name, value === '' ? null : parseParameter(value)]),
  )
  try {
    return await run({ file: address, sql, parameters: values })
  } finally {
    runner.warm()
  }
}

/** The geos of the indicator that a statement names, or all that have values, where it has a parameter `geo`. */
async function readGeoChoices(request: PageRequest, parameters: GivenStatement['parameters']) {
  const given = new Map(parameters.map(({ name, value }) => [name, value]))
  if (!given.has('geo')) return []
  const indicator = Number(given.get('indicator') || Number.NaN)
  const rows = await request.store.kysely
    .selectFrom('series_geo as g')
    .select('g.geo_id')
    .distinct()
    .$if(Number.isSafeInteger(indicator), (of) =>
      of.innerJoin('series as s', 's.id', 'g.series_id').where('s.indicator_id', '=', indicator),
    )
    .orderBy('g.geo_id')
    .limit(MAX_OFFERED_GEOS)
    .execute()
  return namedGeos(
    request,
    rows.map(({ geo_id }) => geo_id),
  )
}

/** A statement with its answer. What is wrong with it is part of the result. */
async function readSqlQuery(request: PageRequest) {
  const { foreign } = request
  const statement = givenStatement(request)
  const given = { ...statement, foreign, geos: await readGeoChoices(request, statement.parameters) }
  if (foreign) return { ...given, answer: null, refused: null }
  try {
    return { ...given, answer: await runGiven(request, given, runner.run), refused: null }
  } catch (error) {
    if (!(error instanceof SyncError)) throw error
    const { message, hint = null, code } = error
    // A late statement may take longer in a terminal.
    return { ...given, answer: null, refused: { message, hint, code, isLate: error instanceof StoppedError } }
  }
}

type SqlQuery = Awaited<ReturnType<typeof readSqlQuery>>

/** A day, or an instant with or without its offset. */
const TIME = /^\d{4}-\d{2}(?:-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?)?$/
/** Columns of numbers that are not measurements, and of counts, which need an axis of their own. */
const NO_MEASURE = /(?:^|_)(?:id|at|s|geo|series)$/
const COUNT = /(?:^|_)(?:count|n|rows|hours|days|missing)$/

/** The instant of a cell of the first column; NaN where it is not a time. */
const timeOf = (cell: string | number | null | undefined): number =>
  typeof cell === 'string' && TIME.test(cell)
    ? Date.parse(/[T ]\d.*(?:Z|[+-]\d{2}:\d{2})$/.test(cell) ? cell : `${cell}${cell.length > 10 ? 'Z' : ''}`) / 1000
    : Number.NaN

/** The lines of an answer whose first column is a time; null where it has none. A time that comes twice does not make a line. */
function linesOfAnswer({ columns, rows }: StatementAnswer) {
  const sorted = rows.map((row) => ({ at: timeOf(row[0]), row })).sort((a, b) => a.at - b.at)
  const times = sorted.map(({ at }) => at)
  if (rows.length < 2 || times.some(Number.isNaN) || new Set(times).size < times.length) return null
  const measures = columns.flatMap((name, i) => {
    const cells = rows.map((row) => row[i] ?? null)
    const isMeasure = i > 0 && !NO_MEASURE.test(name) && cells.every((cell) => typeof cell !== 'string')
    return isMeasure && cells.some((cell) => cell !== null) ? [{ name, i }] : []
  })
  if (measures.length === 0) return null
  const values = measures.filter(({ name }) => !COUNT.test(name))
  // A value holds until the next one; the last one as long as the one before it.
  const steps = times.map((at, i) => (times[i + 1] ?? 2 * at - times[i - 1]!) - at)
  const range: Interval = { from: times[0]!, to: times.at(-1)! + steps.at(-1)! }
  const lines = (values.length > 0 ? values : measures).slice(0, MAX_CHART_LINES).map(({ name, i }) => {
    const values = sorted.map(({ at, row }, n) => ({ at, value: row[i] as number | null, step: steps[n]! }))
    return { name, drawn: { kind: 'values', segments: segmentsOf(values) } satisfies Drawn }
  })
  return { lines, range, ends: [sorted[0]!, sorted.at(-1)!].map(({ row }) => String(row[0])) }
}

function chart(answer: StatementAnswer, { words, locale }: PageRequest): HtmlPart {
  const drawn = linesOfAnswer(answer)
  if (!drawn) return null
  const { lines, range, ends } = drawn
  const label = words.sql.chartOf(lines.map(({ name }) => name).join(', '), ends[0]!, ends[1]!)
  const styled = lines.map((line, i) => ({ ...line, style: `with-${i}` as const }))
  return html`<h2>${words.common.chart}</h2><figure>${figure({ range, zone: 'UTC', lines: styled, label, locale })}<ul class="legend" data-part="legend">${styled.map(
    ({ name, style }) => html`<li class="${style}">${name}</li>`,
  )}</ul></figure>`
}

/** A cell of the table; a long one is cut and marked. */
function cell(value: string | number | null, { words }: PageRequest): Html {
  if (value === null) return html`<td class="soft">${words.sql.noValue}</td>`
  // Nine digits are enough to read; the file has all of them.
  if (typeof value === 'number')
    return html`<td class="number">${Number.isInteger(value) ? value : Number(value.toPrecision(9))}</td>`
  return html`<td><bdi>${visible(value.slice(0, SHOWN_CELL_LETTERS))}</bdi>${value.length > SHOWN_CELL_LETTERS && html`… <span class="soft">(${words.sql.long(value.length)})</span>`}</td>`
}

/** As many rows as a page can hold, at least one. */
function shownRows({ rows }: StatementAnswer): StatementAnswer['rows'] {
  let letters = 0
  const end = rows.findIndex((row, i) => {
    letters += row.reduce<number>((sum, value) => sum + Math.min(String(value).length, SHOWN_CELL_LETTERS) + 20, 0)
    return i > 0 && letters > SHOWN_LETTERS
  })
  return end < 0 ? rows : rows.slice(0, end)
}

/** The question as a terminal command, which may take longer. */
const inTerminal = ({ sql, parameters }: SqlQuery): string =>
  [
    `query ${shellWord(sql.trim())}`,
    ...parameters
      .filter(({ value }) => value !== '')
      .map(({ name, value }) => `--param ${shellWord(`${name}=${value}`)}`),
  ].join(' ')

/** What the address of a question holds. */
const queryParameters = ({ sql, recipe, parameters }: SqlQuery) => ({
  sql,
  recipe: recipe ?? undefined,
  ...Object.fromEntries(parameters.map(({ name, value }) => [`${PARAMETER_PREFIX}${name}`, value])),
})

function result(sqlQuery: SqlQuery, answer: StatementAnswer, request: PageRequest): Html {
  const { words, link } = request
  const { sql: own } = words
  const { columns, rows, cut } = answer
  const shown = shownRows(answer)
  const count = shown.length < rows.length ? own.firstRows(shown.length, rows.length) : own.rows(rows.length)
  return html`${chart(answer, request)}
<h2>${own.answer}</h2>
<p role="status">${rows.length === 0 ? own.empty : count} ${cut === 'rows' && own.cutRows(STATEMENT_LIMITS.rows)}${cut === 'bytes' && own.cutBytes}
${rows.length > 0 && html`<a href="${link('/sql.csv', queryParameters(sqlQuery))}">${own.csv}</a>`}</p>
${cut !== null && html`<p>${own.whole}</p>${command(request.command(inTerminal(sqlQuery)))}`}
${
  rows.length > 0 &&
  scrolled(
    own.answer,
    html`<table class="values">
<thead><tr>${columns.map((name, i) => html`<th scope="col"${rows.some((row) => typeof row[i] === 'number') && html` class="number"`}><bdi>${visible(name)}</bdi></th>`)}</tr></thead>
<tbody>
${shown.map((row) => html`<tr>${row.map((value) => cell(value, request))}</tr>\n`)}</tbody></table>`,
  )
}`
}

function form(sqlQuery: SqlQuery, { words, link, service }: PageRequest): Html {
  const { sql: own } = words
  const recipe = recipesFor(service).find(({ name }) => name === sqlQuery.recipe)
  return html`<form action="${link('/sql')}" class="question">
${sqlQuery.recipe !== null && html`<input type="hidden" name="recipe" value="${sqlQuery.recipe}">`}
<label for="sql">${own.statement}</label>
<textarea id="sql" name="sql" rows="5" cols="80" spellcheck="false" autocapitalize="off" required>${sqlQuery.sql || 'select * from latest limit 20'}</textarea>
${
  sqlQuery.parameters.length > 0 &&
  html`<fieldset><legend>${own.parameters}</legend><p class="soft">${own.parameterHint}</p>${sqlQuery.parameters.map(
    ({ name, value }) =>
      html`<label><code>${name}</code> <input name="${PARAMETER_PREFIX}${name}" value="${value}" size="14" autocomplete="off"${name === 'geo' && html` list="geos"`}${recipe && isNeeded(recipe, name) && html` required`}></label> `,
  )}${sqlQuery.geos.length > 0 && html`<datalist id="geos">${sqlQuery.geos.map((geo) => html`<option value="${geo.id}">${geo.name}</option>`)}</datalist>`}</fieldset>`
}
<button>${own.run}</button></form>`
}

function beside(request: PageRequest): Html {
  const { words, link, service } = request
  const { sql: own } = words
  return html`<aside>
<h2>${own.recipes}</h2><p>${own.recipesAbout}</p>
<ul class="found">${recipesFor(service).map(
    ({ name, question }) =>
      html`<li><a href="${link('/sql', { recipe: name })}" lang="en">${name}</a> ${programText(request, 'recipes', name, question)}</li>\n`,
  )}</ul>
<h2>${words.common.pages.dictionary}</h2>
<p>${objects()
    .filter(({ name }) => !name.startsWith('_'))
    .map(({ name }) => html`<a href="${link(`/dictionary/${name}`)}"><code>${name}</code></a> `)}
</p>
<p><a href="${link('/dictionary')}">${own.dictionaryAll}</a></p></aside>`
}

/** `/sql?sql=`: any other question. */
export const sqlView = view({
  read: readSqlQuery,
  status: ({ refused }) => (refused === null ? 200 : refused.isLate ? 503 : 400),
  show(sqlQuery, request) {
    const { sql: own } = request.words
    const { answer, refused, foreign } = sqlQuery
    return html`<p>${own.about}</p><div class="beside"><div>
${foreign && sqlQuery.sql !== '' && html`<p role="alert">${own.foreign}</p>`}
${form(sqlQuery, request)}
${
  refused !== null &&
  html`<div role="alert"><p class="bad"><strong>${own.refused}.</strong> </p>${messageText([refused.message, refused.hint].filter(Boolean).join(' '), request)}</div>${
    refused.isLate && html`<p>${own.whole}</p>${command(request.command(`${inTerminal(sqlQuery)} --timeout 600`))}`
  }`
}
${answer !== null && result(sqlQuery, answer, request)}
</div>${beside(request)}</div>`
  },
})

/** `/sql.csv?sql=`: all rows of the answer as a file. */
export const answerSqlCsv: Answering = async (request) => {
  const answer = await runGiven(request, givenStatement(request), runner.stream)
  if (!answer) throw new InputError('The statement is missing.', { hint: 'Example: /sql.csv?sql=select …' })
  const names = answer.columns.map(({ name }) => name)
  return csvAnswer('answer.csv', names, answer.rows)
}

/** Every table and view with what it holds, those for readers before those for bookkeeping. */
const objects = () =>
  dictionaryRows()
    .filter(({ column_name }) => column_name === '')
    .map(({ object, kind, meaning }) => ({ name: object, kind, meaning }))
    .sort((a, b) => Number(a.name.startsWith('_')) - Number(b.name.startsWith('_')) || (a.name < b.name ? -1 : 1))

/** `/dictionary`: tables, views and columns. */
export const dictionaryView = view({
  read: async () => ({ objects: objects() }),
  show({ objects: rows }, request) {
    const { words, link } = request
    const { sql: own } = words
    const list = (title: string, kind: string): Html => html`<h2>${title}</h2>
<ul class="found">${rows
      .filter((row) => row.kind === kind)
      .map(
        ({ name, meaning }) =>
          html`<li><a href="${link(`/dictionary/${name}`)}"><code>${name}</code></a> ${programText(request, 'dictionary', meaning)}</li>\n`,
      )}</ul>`
    return html`<p>${own.dictionaryAbout}</p>
${list(own.views, 'view')}
${list(own.tables, 'table')}`
  },
})

/** `/dictionary/observations`: what the columns of a table or view mean. */
async function readObject({ params: { name } }: PageRequest) {
  const object = objects().find((one) => one.name === name)
  if (!object) return null
  const columns = dictionaryRows()
    .filter((row) => row.object === name && row.column_name !== '')
    .map(({ column_name, type, unit, meaning }) => ({ name: column_name, type, unit, meaning }))
  return { ...object, columns }
}

export const dictionaryEntryView = view({
  read: readObject,
  title: ({ name }) => name,
  show({ name, meaning, columns }, request) {
    const { words, link, live } = request
    const { sql: own, common } = words
    return html`<p>${programText(request, 'dictionary', meaning)}</p>
${live && html`<p><a href="${link('/sql', { sql: `select * from ${name} limit 20` })}">${own.ask}</a></p>`}
${table(name, columns, [
  [own.column, (column) => html`<code>${column.name}</code>`],
  [common.type, ({ type }) => type],
  [common.unit, ({ unit }) => unit && programText(request, 'dictionary', unit)],
  [own.meaning, (column) => programText(request, 'dictionary', column.meaning)],
])}`
  },
})
