/** The data that the page of a series embeds for its scripts. */
import type { ShownChart } from './shownChart.ts'
import type { PastState } from './slider.ts'

/** The data of a chart and its moment, with what the page around it shows of them. */
export interface ChartData extends ShownChart {
  readonly asOf: string | null
  /** What a summarized line shows; null for values. */
  readonly bucket: string | null
  /** How many values changed since the moment. */
  readonly changed: Readonly<Record<'revised' | 'withdrawn' | 'added', number>> | null
}

export interface EmbeddedData {
  readonly chart: ChartData
  readonly label: string
  readonly name: string
  readonly changes: readonly PastState[]
  readonly locale: string
  readonly api: string
  readonly geo: string
  readonly carpet: string
  /** The series that are compared, as an address names them. */
  readonly with: string
  readonly explain: string
  readonly words: Readonly<Record<string, string>> & { readonly states: Readonly<Record<string, string>> }
}

/** What the parts of an interactive chart share: the data of the page, and the chart that is shown, which changes with the range. */
export interface ChartPage {
  embedded: EmbeddedData
  chart: ChartData
}
