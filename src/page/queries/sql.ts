import { recipesOf } from '../../reports/recipes/recipes.ts'
import { parameterOf, type StatementRequest } from '../../reports/statements/runner.ts'
import type { Service } from '../../service/service.ts'
import { StoppedError, SyncError } from '../../util/errors.ts'
import type { PageRequest } from '../page.ts'
import { createStatementRunner, type StatementAnswer } from '../statements/statements.ts'
import { geoNames } from './names.ts'
import type { NamedGeo } from './series/geoSeries.ts'

/** Letters of a statement. */
const LONGEST_SQL = 20_000
/** Begins the names of fields that hold the parameters of a statement. */
export const PARAMETER_PREFIX = 'p.'

/** Statements run in processes that all pages share and that end with this one. */
const runner = createStatementRunner()

/** A parameter of a statement, as it was written; empty for no value. */
interface Parameter {
  readonly name: string
  readonly value: string
}

/** Why there is no answer. */
interface RefusedStatement {
  readonly message: string
  readonly hint: string | null
  readonly code: string
  /** Whether the statement took too long; in a terminal it may take longer. */
  readonly isLate: boolean
}

/** A statement with its parameters. */
interface GivenStatement {
  readonly sql: string
  /** The recipe that the statement was taken from, to be changed or run. */
  readonly recipe: string | null
  readonly parameters: readonly Parameter[]
}

/** A statement and its result. */
export interface SqlQuery extends GivenStatement {
  readonly answer: StatementAnswer | null
  readonly refused: RefusedStatement | null
  /** Whether another site led here, so that the statement was not run. */
  readonly foreign: boolean
}

/** The names of the parameters of a statement, each once: `:name`, `@name` and `$name`, but not in texts, names and comments. */
function parametersIn(sql: string): string[] {
  const bare = sql.replaceAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g, ' ')
  return [...new Set([...bare.matchAll(/[:@$]([A-Za-z_]\w*)/g)].map(([, name]) => name!))]
}

/** The statement in an address with its parameters, or a recipe with its defaults. */
function givenStatement(service: Service, query: URLSearchParams): GivenStatement {
  const recipe = recipesOf(service).find(({ name }) => name === query.get('recipe'))
  const sql = (query.get('sql') ?? recipe?.sql ?? '').slice(0, LONGEST_SQL)
  const parameters = parametersIn(sql).map((name) => ({
    name,
    value: query.get(`${PARAMETER_PREFIX}${name}`) ?? String(recipe?.parameters[name] ?? ''),
  }))
  return { sql, recipe: recipe?.name ?? null, parameters }
}

/** The part of a request that a statement is read from. */
type SqlRequest = Pick<PageRequest, 'store' | 'service' | 'query' | 'foreign'>

/** Runs a statement in a process that can be ended; null where there is none yet. Throws as the runner does. */
async function runGiven<Answer>(
  { store: { address }, query }: SqlRequest,
  { sql, parameters }: GivenStatement,
  run: (statement: StatementRequest) => Promise<Answer>,
): Promise<Answer | null> {
  // A user who opens the page will run a statement.
  if (!query.has('sql') || sql.trim() === '') {
    runner.warm()
    return null
  }
  const values = Object.fromEntries(
    parameters.map(({ name, value }) => [name, value === '' ? null : parameterOf(value)]),
  )
  try {
    return await run({ file: address, sql, parameters: values })
  } finally {
    runner.warm()
  }
}

/** All rows of the statement in an address, as they come; null without one. Throws what is wrong with it. */
export const streamOfSql = (request: SqlRequest) =>
  runGiven(request, givenStatement(request.service, request.query), runner.stream)

/** A statement with its answer. What is wrong with it is part of the result. */
export async function runSqlQuery(request: SqlRequest): Promise<SqlQuery> {
  const { foreign } = request
  const given = { ...givenStatement(request.service, request.query), foreign }
  if (foreign) return { ...given, answer: null, refused: null }
  try {
    return { ...given, answer: await runGiven(request, given, runner.run), refused: null }
  } catch (error) {
    if (!(error instanceof SyncError)) throw error
    const { message, hint = null, code } = error
    return { ...given, answer: null, refused: { message, hint, code, isLate: error instanceof StoppedError } }
  }
}

/** Geos that are offered for a parameter. */
const MAX_OFFERED_GEOS = 200

/** The geos to choose from, where a statement has a parameter `geo`: those of its indicator, or all that have values. */
export async function readGeoChoices(
  request: PageRequest,
  { parameters }: Pick<SqlQuery, 'parameters'>,
): Promise<NamedGeo[]> {
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
  const ids = rows.map(({ geo_id }) => geo_id)
  const names = await geoNames(request, ids)
  return ids.map((id) => ({ id, name: names.get(id) ?? null }))
}
