import { dictionaryRows } from '../../db/tables/dictionary.ts'
import { ENTRY_ROUTES } from '../../job/entryRoutes.ts'
import { isNeeded } from '../../reports/recipes/recipe.ts'
import { recipesFor } from '../../reports/recipes/recipes.ts'
import { findLacking, jobLine } from '../../reports/recipes/storedNeeds.ts'
import { parseParameter, type StatementRequest } from '../../reports/statements/runner.ts'
import { InputError, StoppedError, SyncError } from '../../util/errors.ts'
import { shellWord, visible } from '../../util/text.ts'
import { type Column, command, messageText, programText, serviceText, table } from '../elements.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { choiceIn, csvResponse, type PageRequest, type Responder, view } from '../page.ts'
import { indicatorNames } from '../queries/names.ts'
import { type CollectedResult, createStatementRunner } from '../statementQueue.ts'
import { chartSection, chosenChart, drawResult } from './sqlChart.ts'
import {
  PARAMETER_PREFIX,
  parameterFields,
  readGeos,
  readIndicators,
  readParameters,
  resolveNames,
} from './sqlParameters.ts'

/** The longest statement, in characters. */
const MAX_SQL_CHARACTERS = 20_000
/** The most characters that a page shows of all cells, and of one cell; the file has all. */
const SHOWN_CHARACTERS = 16_000
const SHOWN_CELL_CHARACTERS = 200

const runner = createStatementRunner()

/** Reads the statement of an address with its parameters, or a recipe with its defaults. */
function readStatement(request: PageRequest) {
  const { service, query, store } = request
  const recipes = recipesFor(service)
  const named = choiceIn(
    query,
    'recipe',
    recipes.map(({ name }) => name),
  )
  const recipe = recipes.find(({ name }) => name === named)
  const sql = (query.get('sql') ?? recipe?.sql ?? '').slice(0, MAX_SQL_CHARACTERS)
  const parameters = readParameters(request, store.engine.findParameters(sql), recipe)
  // A chosen recipe runs at once, unless it needs a parameter that has no default.
  const isReady =
    query.has('sql') ||
    (recipe !== undefined && parameters.every(({ name, value }) => value !== '' || !isNeeded(recipe, name)))
  return { sql, recipe: recipe?.name ?? null, parameters, isReady }
}

type RequestedStatement = ReturnType<typeof readStatement>

/** Runs a statement, if there is one. Throws as the runner does. */
async function runStatement<Result>(
  { store: { address } }: PageRequest,
  { sql, parameters, isReady }: RequestedStatement,
  run: (statement: StatementRequest) => Promise<Result>,
): Promise<Result | null> {
  // A user who opens the page will run a statement.
  if (!isReady || sql.trim() === '') {
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

/** Reads the statement of an address with ids in place of names. */
async function readResolved(request: PageRequest): Promise<RequestedStatement> {
  const statement = readStatement(request)
  const geos = await readGeos(request, statement.parameters)
  return { ...statement, parameters: await resolveNames(request, statement.parameters, geos) }
}

/** Reads the indicators that an unchanged recipe needs and that are not stored, with their names. */
async function readLacking(request: PageRequest, statement: RequestedStatement) {
  const { sql, parameters } = statement
  const recipe = findRecipe(statement, request)
  // The browser sends the line ends of a form in its own way.
  if (recipe?.sql.trim() !== sql.replaceAll('\r\n', '\n').trim()) return []
  const values = Object.fromEntries(parameters.map(({ name, value }) => [name, value]))
  const ids = await findLacking(request.store, recipe, values)
  const names = await indicatorNames(request, ids)
  return ids.map((id) => ({ id, name: names.get(`${ENTRY_ROUTES.series} ${id}`) ?? null }))
}

/** Runs the statement of an address. Its mistakes are part of the data. */
async function readSqlQuery(request: PageRequest) {
  const { isForeign } = request
  const raw = readStatement(request)
  const geos = await readGeos(request, raw.parameters)
  const indicators = await readIndicators(request, raw.parameters)
  let shown = { ...raw, isForeign, geos, indicators, lacking: [] as Awaited<ReturnType<typeof readLacking>> }
  if (isForeign) return { ...shown, result: null, refused: null }
  try {
    const parameters = await resolveNames(request, raw.parameters, geos)
    shown = { ...shown, parameters, indicators: await readIndicators(request, parameters) }
    if (shown.isReady) shown = { ...shown, lacking: await readLacking(request, shown) }
    if (shown.lacking.length > 0) return { ...shown, result: null, refused: null }
    return { ...shown, result: await runStatement(request, shown, runner.run), refused: null }
  } catch (error) {
    if (!(error instanceof SyncError)) throw error
    const { message, hint = null, code } = error
    // A late statement may take longer in a terminal.
    return { ...shown, result: null, refused: { message, hint, code, isLate: error instanceof StoppedError } }
  }
}

type SqlQuery = Awaited<ReturnType<typeof readSqlQuery>>

function cell(value: string | number | null, { words }: PageRequest): HtmlPart {
  if (value === null) return html`<span class="soft">${words.sql.noValue}</span>`
  // Nine digits are enough to read; the file has all of them.
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number(value.toPrecision(9))
  const isCut = value.length > SHOWN_CELL_CHARACTERS
  const rest = isCut && html`… <span class="soft">(${words.sql.long(value.length)})</span>`
  return html`<bdi>${visible(value.slice(0, SHOWN_CELL_CHARACTERS))}</bdi>${rest}`
}

/** The rows that fit into a page, at least one. */
function shownRows({ rows }: CollectedResult): CollectedResult['rows'] {
  let characters = 0
  const end = rows.findIndex((row, i) => {
    characters += row.reduce<number>(
      (sum, value) => sum + Math.min(String(value).length, SHOWN_CELL_CHARACTERS) + 20,
      0,
    )
    return i > 0 && characters > SHOWN_CHARACTERS
  })
  return end < 0 ? rows : rows.slice(0, end)
}

/** The statement as a command, which may take longer. */
function inTerminal({ sql, parameters }: SqlQuery): string {
  const given = parameters.filter(({ value }) => value !== '')
  const options = given.map(({ name, value }) => ` --param ${shellWord(`${name}=${value}`)}`)
  return `query ${shellWord(sql.trim())}${options.join('')}`
}

/** The query of an address with the statement. */
const queryParameters = ({ sql, recipe, parameters }: RequestedStatement) => ({
  sql,
  recipe: recipe ?? undefined,
  ...Object.fromEntries(parameters.map(({ name, value }) => [`${PARAMETER_PREFIX}${name}`, value])),
})

function resultSection(sqlQuery: SqlQuery, result: CollectedResult, request: PageRequest): Html {
  const { words, link } = request
  const { sql: labels } = words
  const { columns, rows, cut } = result
  const shown = shownRows(result)
  const column = (name: string, i: number): Column<CollectedResult['rows'][number]> => {
    const isNumber = rows.some((row) => typeof row[i] === 'number')
    return [html`<bdi>${visible(name)}</bdi>`, (row) => cell(row[i]!, request), isNumber ? 'number' : '']
  }
  const known = shown.length < rows.length ? labels.firstRows(shown.length, rows.length) : labels.rows(rows.length)
  const count = cut === null ? known : labels.firstOfMore(shown.length)
  const recipe = findRecipe(sqlQuery, request)
  const address = queryParameters(sqlQuery)
  return html`<h2>${labels.result}</h2>
${chartSection({ ...sqlQuery, result, recipe, address }, request)}
<p role="status">${rows.length === 0 ? labels.empty : count}
${rows.length > 0 && html`<a href="${link('/sql.csv', address)}">${labels.csv}</a>`}</p>
${cut !== null && html`<p>${labels.whole}</p>${command(request.command(inTerminal(sqlQuery)))}`}
${rows.length > 0 && table(labels.result, shown, columns.map(column), { style: 'values' })}`
}

const findRecipe = ({ recipe }: RequestedStatement, { service }: PageRequest) =>
  recipesFor(service).find(({ name }) => name === recipe)

/** Names the indicators that a recipe lacks, and the line of a job that fetches them. */
function lackingSection({ lacking }: SqlQuery, { words }: PageRequest): HtmlPart {
  if (lacking.length === 0) return null
  const { sql: labels, common } = words
  return html`<h2>${labels.result}</h2><div role="alert"><p class="bad">${labels.lacking}</p>
<ul>${lacking.map(({ id, name }) => html`<li>${id} ${serviceText(name)}</li>`)}</ul>
<p>${common.noneHint}</p>${command(jobLine(lacking.map(({ id }) => id)))}</div>`
}

function form(sqlQuery: SqlQuery, request: PageRequest): Html {
  const { words, link, query } = request
  const { sql: labels } = words
  const { sql, recipe, parameters, geos, indicators } = sqlQuery
  const kept = { ...(recipe !== null && { recipe }), ...chosenChart(query) }
  return html`<form action="${link('/sql')}" class="question">
${Object.entries(kept).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<label for="sql">${labels.statement}</label>
<textarea id="sql" name="sql" rows="5" cols="80" spellcheck="false" autocapitalize="off" required>${sql || 'select * from latest limit 20'}</textarea>
${parameterFields(parameters, geos, indicators, findRecipe(sqlQuery, request), request)}
<button>${labels.run}</button></form>`
}

function beside(request: PageRequest): Html {
  const { words, link, service } = request
  const { sql: labels } = words
  return html`<aside>
<h2>${labels.recipes}</h2><p>${labels.recipesAbout}</p>
<ul class="found">${recipesFor(service).map(
    ({ name, question }) =>
      html`<li><a href="${link('/sql', { recipe: name })}" lang="en">${name}</a> ${programText(request, 'recipes', name, question)}</li>\n`,
  )}</ul>
<h2>${words.common.pages.dictionary}</h2>
<p>${objects()
    .filter(({ name }) => !name.startsWith('_'))
    .map(({ name }) => html`<a href="${link(`/dictionary/${name}`)}"><code>${name}</code></a> `)}
</p>
<p><a href="${link('/dictionary')}">${labels.dictionaryAll}</a></p></aside>`
}

/** Why a statement was refused; if it took too long, the command that gives it more time. */
function refusal(sqlQuery: SqlQuery, request: PageRequest): HtmlPart {
  const { refused } = sqlQuery
  if (refused === null) return null
  const { sql: labels } = request.words
  const reasons: Readonly<Record<string, string>> = labels.reasons
  const reason = reasons[refused.code] ?? labels.reasons.statement
  const message = messageText([refused.message, refused.hint].filter(Boolean).join(' '), request)
  const longer = request.command(`${inTerminal(sqlQuery)} --timeout 600`)
  return html`<div role="alert"><p class="bad"><strong>${labels.refused}.</strong> ${reason}</p>${message}</div>${
    refused.isLate && html`<p>${labels.whole}</p>${command(longer)}`
  }`
}

/** `/sql?sql=`: the result of a statement. */
export const sqlView = view({
  read: readSqlQuery,
  status({ refused }) {
    if (refused === null) return 200
    return refused.isLate ? 503 : 400
  },
  show(sqlQuery, request) {
    const { sql: labels } = request.words
    const { result, isForeign } = sqlQuery
    return html`<p>${labels.about}</p><div class="beside"><div>
${isForeign && sqlQuery.sql !== '' && html`<p role="alert">${labels.foreign}</p>`}
${form(sqlQuery, request)}
${refusal(sqlQuery, request)}
${lackingSection(sqlQuery, request)}
${result !== null && resultSection(sqlQuery, result, request)}
</div>${beside(request)}</div>`
  },
})

const missingStatement = (): InputError =>
  new InputError('The statement is missing.', { hint: 'Example: ?sql=select …' })

/** `/sql.svg?sql=`: the chart of a result as a picture. */
export const statementPicture: Responder = async (request) => {
  const statement = await readResolved(request)
  const result = await runStatement(request, statement, runner.run)
  if (!result) throw missingStatement()
  const address = queryParameters(statement)
  const body = await drawResult({ ...statement, result, recipe: findRecipe(statement, request), address }, request)
  if (body !== null) return { type: 'image/svg+xml', body }
  throw new InputError('The result has no chart.', {
    hint: 'Choose one: chart=line or chart=bars. The first column has times, numbers or names, another one numbers.',
    code: 'no-chart',
  })
}

/** `/sql.csv?sql=`: all rows of a result as a file. */
export const statementCsv: Responder = async (request) => {
  const result = await runStatement(request, await readResolved(request), runner.stream)
  if (!result) throw missingStatement()
  const names = result.columns.map(({ name }) => name)
  return csvResponse('result.csv', names, result.rows)
}

/** Every table and view with its meaning; bookkeeping comes last. */
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
    const { sql: labels } = words
    const list = (title: string, kind: string): Html => html`<h2>${title}</h2>
<ul class="found">${rows
      .filter((row) => row.kind === kind)
      .map(
        ({ name, meaning }) =>
          html`<li><a href="${link(`/dictionary/${name}`)}"><code>${name}</code></a> ${programText(request, 'dictionary', meaning)}</li>\n`,
      )}</ul>`
    return html`<p>${labels.dictionaryAbout}</p>
${list(labels.views, 'view')}
${list(labels.tables, 'table')}`
  },
})

/** `/dictionary/observations`: the columns of a table or view. */
async function readObject({ params: { name } }: PageRequest) {
  const object = objects().find((entry) => entry.name === name)
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
    const { words, link, isLive } = request
    const { sql: labels, common } = words
    return html`<p>${programText(request, 'dictionary', meaning)}</p>
${isLive && html`<p><a href="${link('/sql', { sql: `select * from ${name} limit 20` })}">${labels.query}</a></p>`}
${table(name, columns, [
  [labels.column, (column) => html`<code>${column.name}</code>`],
  [common.type, ({ type }) => type],
  [common.unit, ({ unit }) => unit && programText(request, 'dictionary', unit)],
  [labels.meaning, (column) => programText(request, 'dictionary', column.meaning)],
])}`
  },
})
