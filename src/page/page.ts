import type { Blocks } from '../db/engine.ts'
import type { Reader } from '../db/store.ts'
import { csvCell } from '../reports/cells.ts'
import type { Service } from '../service/service.ts'
import type { Html } from './html.ts'
import type { PageLocale } from './words/locale.ts'
import type { Words } from './words/words.ts'

/** The query of an address; undefined values are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>

/** The address of one of our pages: its path and query. */
export function addressOf(path: string, query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

/** What a page is made from. */
export interface PageRequest {
  /** The database, open for this request only and read as it is at one instant. Nothing can be written through it. */
  readonly store: Reader
  /** The requested path, without `.json`: `/series/600`. */
  readonly path: string
  /** The values of the slots of the path: `:id` of `/series/:id`. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly locale: PageLocale
  /** The languages in which texts of the service are looked for, in this order: that one, then those of the service. */
  readonly languages: readonly string[]
  /** The service that the database is filled from. */
  readonly service: Service
  /** The page's own words in that language. */
  readonly words: Words
  /** The version of this program. */
  readonly version: string
  /** Epoch seconds. */
  readonly now: number
  /** The whole address that was requested, for paper; undefined where no server is behind the page. */
  readonly address?: string
  /** The folders of lakes that jobs keep up to date. */
  readonly lakes?: () => Promise<readonly string[]>
  /** Whether another site leads here: then nothing costly is done. */
  readonly foreign: boolean
  /** Whether the page has a server: as a file it has no search, no SQL and no scripts that send requests. */
  readonly live: boolean
  /**
   * The address of a page for `href`, on a server or as a file: `link('/series/600', { from: '2025-10-01' })`. Every link to our
   * own pages is made by this.
   */
  link(path: string, query?: Query): string
  /** A command as this person types it, with the database named where that is needed: `command('retry')`. */
  command(rest: string): string
  /** The address of a script, a style or a picture of ours by its name: `asset('chart.js')`. */
  asset(name: string): string
}

/** What a page reads, and how it shows that. `/x` is the HTML, and `/x.json` the result of `read`. */
export interface View<Data, Read = Data> {
  /** Null: there is nothing of this name. */
  read(request: PageRequest): Promise<Read>
  show(data: Data, request: PageRequest): Html
  /** The HTTP status. Default: 200. */
  status?(data: Data): number
  /** The heading of the window; the name of the page when left out. */
  title?(data: Data, request: PageRequest): string
}

/** Declares a view; `read` determines the type of the data that it shows. Only the view itself knows that type. */
export const view = <Data>(declared: View<Data, Data | null>): View<unknown> => ({
  ...(declared as View<unknown>),
  async read(request) {
    const data = await declared.read(request)
    if (data === null) throw new NotFound(request.path)
    return data
  },
})

/** What pages and endpoints have in common. */
interface Routed {
  /** With slots: `/series/:id`. */
  readonly path: string
  /** Whether it depends on the time (an age), so that it changes every minute. */
  readonly clock?: true
  /** Whether it depends on more than the database and is made at every request: a statement may tell the time, or take too long. */
  readonly fresh?: true
  /** Whether only our own pages may lead to it, because an answer is costly: SQL. */
  readonly own?: true
}

/** A page: its path, and its view, which is loaded on the first request. */
export interface Page extends Routed {
  readonly name: keyof Words['common']['pages']
  /** Whether the navigation names it. */
  readonly top?: true
  /** Whether it needs a server: search, SQL. */
  readonly live?: true
  /** Whether it is not updated while a sync writes, because reading it again is costly. */
  readonly still?: true
  /** Modules of `client/` that run in it, by their names: `carpet` for `client/carpet.ts`. */
  readonly scripts?: readonly string[]
  readonly view: () => Promise<View<unknown>>
}

/** An answer: its media type and body; with a name it is a file to be saved. */
export interface PageAnswer {
  readonly type: string
  readonly body: string | AsyncIterable<string>
  readonly file?: string
  /** Default: 200. */
  readonly status?: number
}

/** Answers a request for something other than a page. */
export type Answering = (request: PageRequest) => Promise<PageAnswer>

/** Something other than a page: numbers for a chart, CSV, metrics for a monitor. Its code is loaded on the first request. */
export interface Endpoint extends Routed {
  readonly answer: () => Promise<Answering>
}

/** Data as JSON. */
export const jsonAnswer = (data: unknown): PageAnswer => ({
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(data),
})

/** Characters that are sent at once: otherwise each block of rows would be sent separately. */
const CHUNK = 64 * 1024

/** Rows as a file of CSV. A browser may pass them to a spreadsheet, so no text of the service may be a formula there. */
export function csvAnswer(file: string, columns: readonly string[], rows: Blocks<readonly unknown[]>): PageAnswer {
  const line = (cells: readonly unknown[]): string =>
    `${cells.map((value) => csvCell(value, { safe: true })).join(',')}\n`
  async function* body(): AsyncGenerator<string, void> {
    let text = line(columns)
    for await (const block of rows) {
      text += block.map(line).join('')
      if (text.length < CHUNK) continue
      yield text
      text = ''
    }
    yield text
  }
  return { type: 'text/csv; charset=utf-8', file, body: body() }
}

/** Thrown where something does not exist; becomes a page with status 404. */
export class NotFound extends Error {
  constructor(what: string) {
    super(`not found: ${what}`)
  }
}

/** A whole number in an address; null where there is none. */
export const wholeNumber = (text: string | null | undefined): number | null =>
  /^\d{1,15}$/.test(text ?? '') ? Number(text) : null

/** The part of a list that the `page` of an address names, from 1; the nearest one for a number that there is not. */
export function pageNumber<Row>({ query }: PageRequest, all: readonly Row[], size: number) {
  const pages = Math.max(1, Math.ceil(all.length / size))
  const page = Math.min(pages, Math.max(1, wholeNumber(query.get('page')) ?? 1))
  return { page, pages, shown: all.slice((page - 1) * size, page * size) }
}
