/** A table of the report. */
export interface Section {
  readonly title: string
  readonly about: string
  /** The command that measures it. */
  readonly command: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** The input of a case. */
export interface Bench {
  /** A temporary folder for databases and inputs. */
  readonly folder: string
  /** Runs of each contender, in turn. */
  readonly runs: number
  /** Values of the large database. */
  readonly rows: number
  /** Prints progress on stderr. */
  readonly say: (text: string) => void
  /** Reports a measurement that is impossible here, with the reason, on stderr and in the report. */
  readonly skip: (text: string) => void
}

export type Case = (bench: Bench) => Promise<Section>

export const fixed = (value: number | null, digits = 2): string => (value === null ? '–' : value.toFixed(digits))
export const grouped = (value: number): string => Math.round(value).toLocaleString('en')

const line = (cells: readonly string[]): string => cells.join(' | ')

/** Formats a section as Markdown. */
export const markdown = ({ title, about, command, head, rows }: Section): string =>
  [
    `## ${title}`,
    `\`${command}\`: ${about}`,
    [line(head), head.map(() => '---').join('|'), ...rows.map(line)].join('\n'),
  ].join('\n\n')
