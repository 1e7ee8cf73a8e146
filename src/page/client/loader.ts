/** Requests the data of a chart for other ranges and moments. The address of the page follows. */
import type { ChartData, ChartPage } from './embeddedData.ts'
import { addressText } from './format.ts'
import { refreshPage } from './live.ts'

/** A range in seconds since 1970. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** The address of the page for a range and a moment. */
function pageAddress({ chart }: ChartPage, { from, to }: Range, asOf: string | null): URL {
  const address = new URL(location.href)
  const range = { from: addressText(chart.offsets, from), to: addressText(chart.offsets, to), last: null, day: null }
  // The last days stay relative until the range changes.
  const isRelative = address.searchParams.has('last') && from === chart.from && to === chart.to
  for (const [name, value] of Object.entries({ ...(isRelative ? {} : range), asof: asOf }))
    if (value === null) address.searchParams.delete(name)
    else address.searchParams.set(name, value)
  return address
}

async function fetchChart({ embedded }: ChartPage, { search }: URL, columns: number, signal: AbortSignal) {
  const query = new URLSearchParams(search)
  query.set('px', String(columns))
  query.set('with', embedded.with)
  const response = await fetch(`${embedded.api}?${query}`, { signal })
  const data = (await response.json()) as ChartData & { readonly error?: string }
  if (!response.ok) throw new Error(data.error)
  return data
}

/** What a loader needs from its page: the columns of the chart, and what to do with new data or an error. */
interface LoaderOptions {
  readonly columns: () => number
  readonly show: (chart: ChartData) => void
  readonly fail: (message: string) => void
}

/** Creates the loader of a chart. */
export function createLoader(page: ChartPage, { columns, show, fail }: LoaderOptions) {
  const main = document.querySelector('main')!
  let loading = new AbortController()
  let isRefreshing = false
  return {
    /** Whether the loader itself refreshes the page around the chart. */
    isRefreshing: (): boolean => isRefreshing,
    /** Requests the data of a range; a later request cancels an earlier one. `isDone`: whether the user has finished choosing. */
    async load(range: Range, asOf: string | null, isDone: boolean): Promise<void> {
      loading.abort()
      loading = new AbortController()
      const { signal } = loading
      const address = pageAddress(page, range, asOf)
      // The history has only finished choices.
      if (isDone) history.pushState(null, '', address)
      main.dataset.still = ''
      try {
        show(await fetchChart(page, address, columns(), signal))
        if (isDone) {
          isRefreshing = true
          await refreshPage(signal)
        }
      } catch (error) {
        // Only a failed connection is a TypeError.
        if (!signal.aborted) fail(error instanceof TypeError ? page.embedded.words.failed! : (error as Error).message)
      } finally {
        if (!signal.aborted) {
          isRefreshing = false
          delete main.dataset.still
        }
      }
    },
  }
}

/** Requests the moment before the last run that changed the values of a range, as far as they are shown; undefined without one. */
export async function fetchMomentBefore({ embedded, chart }: ChartPage, range: Range): Promise<string | undefined> {
  const { offsets, asOf } = chart
  const from = addressText(offsets, range.from)
  const to = addressText(offsets, range.to)
  const query = new URLSearchParams({ geo: embedded.geo, from, to })
  const response = await fetch(`${location.pathname}.json?${query}`)
  const { changes } = (await response.json()) as { readonly changes: readonly { readonly before: string }[] }
  // Before the first one, nothing was stored.
  return changes.slice(1).findLast(({ before }) => asOf === null || before < asOf)?.before
}
