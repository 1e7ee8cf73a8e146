import { csvCell } from '../../reports/cells.ts'
import type { Exported } from '../../reports/export.ts'
import { isNeeded } from '../../reports/recipes/recipe.ts'
import { recipesOf } from '../../reports/recipes/recipes.ts'
import { InputError } from '../../util/errors.ts'
import { shellWord, visible } from '../../util/text.ts'
import { drawing, lineLegend } from '../drawing.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import { type Answering, type PageRequest, view } from '../page.ts'
import { objects } from '../queries/dictionary.ts'
import type { NamedGeo } from '../queries/series/geoSeries.ts'
import { PARAMETER_PREFIX, readGeoChoices, runSqlQuery, type SqlQuery, streamOfSql } from '../queries/sql.ts'
import { linesOfAnswer } from '../statements/chart.ts'
import { STATEMENT_LIMITS, type StatementAnswer } from '../statements/statements.ts'
import { command, scrolled } from './elements.ts'

/** The most letters of all cells that a page shows, and of one cell; the file has all. */
const SHOWN_LETTERS = 16_000
const SHOWN_CELL_LETTERS = 200

type Cell = string | number | null

/** A cell of the table; a long one is cut and marked. */
function cell(value: Cell, { words }: PageRequest): Html {
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

function chart(answer: StatementAnswer, { words, locale }: PageRequest): HtmlPart {
  const drawn = linesOfAnswer(answer)
  if (!drawn) return null
  const { lines, ends } = drawn
  const label = words.sql.chartOf(lines.map(({ name }) => name).join(', '), ...ends)
  return html`<h2>${words.sql.chart}</h2><figure>${drawing({ label, lines, ends, locale })}${lineLegend(lines)}</figure>`
}

function result(sqlQuery: SqlQuery, answer: StatementAnswer, request: PageRequest): Html {
  const { words, link } = request
  const { sql: own } = words
  const { columns, rows, cut } = answer
  const shown = shownRows(answer)
  return html`${chart(answer, request)}
<h2>${own.answer}</h2>
<p role="status">${rows.length === 0 ? own.empty : own.rows(shown.length, rows.length)} ${cut === 'rows' && own.cut.rows(STATEMENT_LIMITS.rows)}${cut === 'bytes' && own.cut.bytes}
${rows.length > 0 && html`<a href="${link('/sql.csv', queryParameters(sqlQuery))}">${own.csv}</a>`}</p>
${cut !== null && html`<p>${own.whole}</p>${command(request.command(inTerminal(sqlQuery)))}`}
${
  rows.length > 0 &&
  html`${scrolled(
    own.answer,
    html`<table>
<thead><tr>${columns.map((name) => html`<th scope="col"><bdi>${visible(name)}</bdi></th>`)}</tr></thead>
<tbody>
${shown.map((row) => html`<tr>${row.map((value) => cell(value, request))}</tr>\n`)}</tbody></table>`,
  )}`
}`
}

/** The height of the text box in lines: that of the statement, within limits. */
const linesOfBox = (sql: string): number => Math.min(16, Math.max(5, sql.split('\n').length + 1))

function form(
  sqlQuery: SqlQuery & { readonly geos: readonly NamedGeo[] },
  { words, link, service }: PageRequest,
): Html {
  const { sql: own } = words
  const recipe = recipesOf(service).find(({ name }) => name === sqlQuery.recipe)
  return html`<form action="${link('/sql')}" class="question">
${sqlQuery.recipe !== null && html`<input type="hidden" name="recipe" value="${sqlQuery.recipe}">`}
<label for="sql">${own.statement}</label>
<textarea id="sql" name="sql" rows="${linesOfBox(sqlQuery.sql)}" cols="80" spellcheck="false" autocapitalize="off" required>${sqlQuery.sql || 'select * from latest limit 20'}</textarea>
${
  sqlQuery.parameters.length > 0 &&
  html`<fieldset><legend>${own.parameters}</legend><p class="soft">${own.parameterHint}</p>${sqlQuery.parameters.map(
    ({ name, value }) =>
      html`<label><code>${name}</code> <input name="${PARAMETER_PREFIX}${name}" value="${value}" size="14" autocomplete="off"${name === 'geo' && html` list="geos"`}${recipe && isNeeded(recipe, name) && html` required`}></label> `,
  )}${sqlQuery.geos.length > 0 && html`<datalist id="geos">${sqlQuery.geos.map((geo) => html`<option value="${geo.id}">${geo.name}</option>`)}</datalist>`}</fieldset>`
}
<button>${own.run}</button></form>`
}

function beside({ words, link, locale, service }: PageRequest): Html {
  const { sql: own } = words
  return html`<aside>
<h2>${own.recipes}</h2><p>${own.recipesAbout}</p>
<ul class="found">${recipesOf(service).map(({ name, question }) => {
    const own = words.sql.questions[name]
    return html`<li><a href="${link('/sql', { recipe: name })}" lang="en">${name}</a> <span lang="${own ? locale : 'en'}">${own ?? question}</span></li>\n`
  })}</ul>
<h2>${own.dictionary}</h2>
<p>${objects()
    .filter(({ name }) => !name.startsWith('_'))
    .map(({ name }) => html`<a href="${link(`/dictionary/${name}`)}"><code>${name}</code></a> `)}
</p>
<p><a href="${link('/dictionary')}">${own.dictionaryAll}</a></p></aside>`
}

/** `/sql?sql=`: any other question. */
export const sqlView = view<SqlQuery & { readonly geos: readonly NamedGeo[] }>({
  read: async (request) => {
    const sqlQuery = await runSqlQuery(request)
    return { ...sqlQuery, geos: await readGeoChoices(request, sqlQuery) }
  },
  status: ({ refused }) => (refused === null ? 200 : refused.isLate ? 503 : 400),
  show(sqlQuery, request) {
    const { sql: own } = request.words
    const { answer, refused, foreign } = sqlQuery
    return html`<p>${own.about}</p><div class="beside"><div>
${foreign && sqlQuery.sql !== '' && html`<p role="alert">${own.foreign}</p>`}
${form(sqlQuery, request)}
${
  refused !== null &&
  html`<div role="alert"><p class="bad"><strong>${own.refused}.</strong> <span lang="en">${visible(refused.message)}</span></p>${refused.hint !== null && html`<p lang="en">${refused.hint}</p>`}</div>${
    refused.isLate && html`<p>${own.whole}</p>${command(request.command(`${inTerminal(sqlQuery)} --timeout 600`))}`
  }`
}
${answer !== null && result(sqlQuery, answer, request)}
</div>${beside(request)}</div>`
  },
})

/** Rows as lines of CSV. A browser may pass them to a spreadsheet, so no text of the service may be a formula there. */
async function* csvLines({ columns, rows }: Pick<Exported, 'columns' | 'rows'>): AsyncGenerator<string, void> {
  const line = (cells: readonly unknown[]): string =>
    `${cells.map((value) => csvCell(value, { safe: true })).join(',')}\n`
  yield line(columns.map(({ name }) => name))
  for await (const block of rows) yield block.map(line).join('')
}

/** `/sql.csv?sql=`: all rows of the answer as a file. */
export const answerSqlCsv: Answering = async (request) => {
  const answer = await streamOfSql(request)
  if (!answer) throw new InputError('The statement is missing.', { hint: 'Example: /sql.csv?sql=select …' })
  return { type: 'text/csv; charset=utf-8', file: 'answer.csv', body: csvLines(answer) }
}
