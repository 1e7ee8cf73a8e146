/** What a chart shows, and the events of its page. */
import type { Offsets, SIGNS } from './format.ts'
import type { LineData } from './segments.ts'

/** Intervals that are not final. */
export type States = readonly (readonly [from: number, to: number, state: keyof typeof SIGNS])[]

/** The data of a chart. */
export interface ShownChart {
  readonly from: number
  readonly to: number
  readonly offsets: Offsets
  readonly ticks: readonly { readonly at: number; readonly label: string }[]
  readonly now: LineData
  readonly before: LineData | null
  readonly compared: readonly {
    readonly name: string
    readonly drawn: LineData
    readonly unit: string | null
    readonly states: States
  }[]
  /** `unfinished`: the day of which values are still missing. */
  readonly difference: {
    readonly drawn: LineData
    readonly unfinished: readonly [from: number, to: number] | null
  } | null
  readonly unit: string | null
  readonly states: States
  readonly steps: readonly (readonly [at: number, step: number, text: string])[]
}

/** The language of a chart, the names of states, and its event handlers. */
export interface ChartOptions {
  readonly locale: string
  readonly names: Readonly<Record<string, string>>
  /** The cursor moved to an instant; `left` is its place in the chart if the mouse moved it. */
  readonly cursor: (at: number | null, left: number | null) => void
  /** An interval was selected. */
  readonly zoom: (from: number, to: number) => void
  /** An instant was clicked. */
  readonly open: (at: number) => void
}

/** What the plots of a chart depend on. */
export interface PlotContext extends Pick<ChartOptions, 'locale' | 'names'> {
  readonly element: HTMLElement
  /** The chart that is shown; a preview changes its range. */
  readonly shown: () => ShownChart
  /** The value of a colour of the style sheet. */
  readonly colour: (name: string) => string
}
