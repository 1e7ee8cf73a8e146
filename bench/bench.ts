/** A part of the report: a table with what it means. */
export interface Section {
  readonly title: string
  readonly about: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** What a case is given. */
export interface Bench {
  /** A folder for databases and inputs, thrown away afterwards. */
  readonly folder: string
  /** Runs of each contender, in turn. */
  readonly runs: number
  /** Values of the large database. */
  readonly rows: number
  /** Tells what is going on, on stderr. */
  readonly say: (text: string) => void
  /** Tells what cannot be measured here and why, on stderr and in the report. */
  readonly skip: (text: string) => void
}

export type Case = (bench: Bench) => Promise<readonly Section[]>

export const fixed = (value: number | null, digits = 2): string => (value === null ? '–' : value.toFixed(digits))
export const grouped = (value: number): string => Math.round(value).toLocaleString('en')

const line = (cells: readonly string[]): string => cells.join(' | ')

/** A section as Markdown. */
export const markdown = ({ title, about, head, rows }: Section): string =>
  [`## ${title}`, about, [line(head), head.map(() => '---').join('|'), ...rows.map(line)].join('\n')].join('\n\n')
