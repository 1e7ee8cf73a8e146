import type { Blocks } from '../db/engine.ts'
import type { Reader } from '../db/store.ts'
import { csvCell } from '../reports/cells.ts'
import type { Service } from '../service/service.ts'
import { InputError } from '../util/errors.ts'
import { type LocalDate, startOfDate } from '../util/time/zone.ts'
import type { Html } from './html.ts'
import type { PageLocale } from './words/locale.ts'
import { WORDS, type Words } from './words/words.ts'

/** The query of an address; undefined values are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>

/** Joins the path and the query of a page. */
export function formatAddress(path: string, query: Query = {}): string {
  const parameters = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return parameters.length === 0 ? path : `${path}?${new URLSearchParams(parameters)}`
}

/** A request for a page. */
export interface PageRequest {
  /** The database: one read-only snapshot, open for this request only. */
  readonly store: Reader
  /** The requested path, without `.json`: `/series/600`. */
  readonly path: string
  /** The values of the slots of the path: `:id` of `/series/:id`. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly locale: PageLocale
  /** The preferred languages for texts of the service: first that of the page. */
  readonly languages: readonly string[]
  /** The service that the database is filled from. */
  readonly service: Service
  /** The texts of the page in its language. */
  readonly words: Words
  /** The version of this program. */
  readonly version: string
  /** Epoch seconds. */
  readonly now: number
  /** Whether another site linked here; then nothing costly is done. */
  readonly isForeign: boolean
  /** The token of a server that other computers can reach. */
  readonly token?: string | null
  /** Whether the page has a server. A file has no search, no SQL and no scripts. */
  readonly isLive: boolean
  /** The address of a page for `href`, on a server or as a file: `link('/series/600', { from: '2025-10-01' })`. */
  link(path: string, query?: Query): string
  /** A command as the user types it, with the database if needed: `command('retry')`. */
  command(rest: string): string
  /** The address of a script, style or picture: `asset('plot.js')`. */
  asset(name: string): string
}

/** The part of a request that its address and the service determine. */
export const baseRequest = (
  store: Reader,
  { pathname, searchParams }: URL,
  params: PageRequest['params'],
  locale: PageLocale,
  service: Service,
) => ({
  store,
  params,
  locale,
  service,
  query: searchParams,
  words: WORDS[locale],
  path: pathname === '/index.json' ? '/' : pathname.replace(/\.json$/, ''),
  languages: [locale, ...service.locales],
})

/** Reads and shows the data of a page. `/x` is the HTML, `/x.json` the result of `read`. */
export interface View<Data, Read = Data> {
  /** Null becomes status 404. */
  read(request: PageRequest): Promise<Read>
  show(data: Data, request: PageRequest): Html
  /** The HTTP status. Default: 200. */
  status?(data: Data): number
  /** The heading of the page. Default: its name. */
  title?(data: Data, request: PageRequest): string
}

/** Declares a view; `read` determines the type of its data. */
export const view = <Data>(declared: View<Data, Data | null>): View<unknown> => ({
  ...(declared as View<unknown>),
  async read(request) {
    const data = await declared.read(request)
    if (data === null) throw new NotFound(request.path)
    return data
  },
})

/** The common fields of pages and endpoints. */
interface Routed {
  /** With slots: `/series/:id`. */
  readonly path: string
  /** Whether it depends on the time, as an age does; then it changes every minute. */
  readonly dependsOnTime?: true
  /** Whether it is made at every request: the result of a statement depends on more than the database. */
  readonly isUncached?: true
  /** Whether other sites may not link to it, because it is costly: SQL. */
  readonly isCostly?: true
}

/** A page. Its view is loaded on the first request. */
export interface Page extends Routed {
  readonly name: keyof Words['common']['pages']
  /** Whether it is in the navigation. */
  readonly isInNavigation?: true
  /** Whether it needs a server: search, SQL. */
  readonly needsServer?: true
  /** Whether it is not updated while a sync writes, because reading it again is costly. */
  readonly isStill?: true
  /** Modules of `client/` that it loads: `grid` for `client/grid.ts`. */
  readonly scripts?: readonly string[]
  readonly view: () => Promise<View<unknown>>
}

/** A response: its media type and body; with `file` it is a download. */
export interface PageResponse {
  readonly type: string
  readonly body: string | AsyncIterable<string>
  readonly file?: string
  /** Default: 200. */
  readonly status?: number
}

export type Responder = (request: PageRequest) => Promise<PageResponse>

/** A route other than a page: data of a chart, CSV, metrics. Its code is loaded on the first request. */
export interface Endpoint extends Routed {
  readonly respond: () => Promise<Responder>
}

/** Data as JSON. */
export const jsonResponse = (data: unknown): PageResponse => ({
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(data),
})

/** Characters that are sent at once. */
const CHUNK_CHARACTERS = 64 * 1024

/** Rows as a CSV file. Texts of the service cannot be formulas in a spreadsheet. */
export function csvResponse(
  file: string,
  columns: readonly string[],
  rows: Blocks<readonly unknown[]> | Iterable<readonly (readonly unknown[])[]>,
): PageResponse {
  const line = (cells: readonly unknown[]): string =>
    `${cells.map((value) => csvCell(value, { safe: true })).join(',')}\n`
  async function* body(): AsyncGenerator<string, void> {
    let text = line(columns)
    for await (const block of rows) {
      text += block.map(line).join('')
      if (text.length < CHUNK_CHARACTERS) continue
      yield text
      text = ''
    }
    yield text
  }
  return { type: 'text/csv; charset=utf-8', file, body: body() }
}

/** Becomes a page with status 404. */
export class NotFound extends Error {
  /** The series that an address names, if that is what does not exist. */
  readonly series: string | null

  constructor(name: string, series: string | null = null) {
    super(`not found: ${name}`)
    this.series = series
  }
}

/** A parameter of an address has a value that is not legal; the `cause` has both. */
export class AddressError extends InputError {
  declare readonly cause: { readonly name: string; readonly text: string; readonly legal: string }
}

/** Days and times that an address may have, whatever the language. */
const LEGAL_DAY = '2025-10-01'
const LEGAL_TIMES = `${LEGAL_DAY}, ${LEGAL_DAY}T12:00, ${LEGAL_DAY}T12:00:00+02:00`

/** An error about a time of an address. */
export const badTime = (name: string, text: string, hint: string, legal = LEGAL_TIMES): AddressError =>
  new AddressError(`${name}=${JSON.stringify(text)} is not a valid time.`, {
    hint,
    code: 'bad-time',
    cause: { name, text, legal },
  })

/** Reads a day of an address. */
export function dayIn(query: URLSearchParams, name: string): LocalDate | null {
  const day = query.get(name)
  if (!day) return null
  if (startOfDate('UTC', day) !== undefined) return day
  throw badTime(name, day, `Use a day such as ${LEGAL_DAY}.`, LEGAL_DAY)
}

export const dayAfter = (day: LocalDate): LocalDate => new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)

/** The error for a parameter of an address. `legal` lists its values without words of a language. */
export const badParameter = (name: string, text: string, legal: string): AddressError =>
  new AddressError(`${name}=${JSON.stringify(text)} is not valid.`, {
    hint: `Legal: ${legal}.`,
    code: 'bad-parameter',
    cause: { name, text, legal },
  })

/** Reads a choice of an address; undefined without one. Throws if the choice is not legal. */
export function choiceIn<Choice extends string>(
  query: URLSearchParams,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const text = query.get(name)
  if (!text) return undefined
  const found = choices.find((choice) => choice === text)
  if (found === undefined) throw badParameter(name, text, choices.join(', '))
  return found
}

/** Reads a whole number of an address; null without one. Throws if the text is not a whole number, or not in the range. */
export function numberIn(
  query: URLSearchParams,
  name: string,
  { from = 0, to = 999_999_999_999_999 } = {},
): number | null {
  const text = query.get(name)
  if (!text) return null
  const number = wholeNumber(text)
  if (number === null || number < from || number > to) throw badParameter(name, text, `${from} … ${to}`)
  return number
}

/** Reads a whole number of an address; null for anything else. */
export const wholeNumber = (text: string | null | undefined): number | null =>
  /^\d{1,15}$/.test(text ?? '') ? Number(text) : null

/** The page of a list that the `page` of an address names, from 1, and the rows before it. */
export function pageOf({ query }: PageRequest, rows: number, size: number) {
  const pages = Math.max(1, Math.ceil(rows / size))
  const page = Math.min(pages, numberIn(query, 'page', { from: 1 }) ?? 1)
  return { page, pages, offset: (page - 1) * size }
}

/** Selects the part of a list that the `page` of an address names. */
export function paginate<Row>(request: PageRequest, rows: readonly Row[], size: number) {
  const { page, pages, offset } = pageOf(request, rows.length, size)
  return { page, pages, shown: rows.slice(offset, offset + size) }
}
