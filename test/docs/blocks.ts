import { readFileSync } from 'node:fs'

/** A fenced block of a page. */
export interface Block {
  readonly heading: string
  readonly language: string
  readonly text: string
  /** Whether the block is run; false if the page marks it as not run. */
  readonly runs: boolean
}

/** Returns the fenced blocks of a Markdown page, each with the heading above it. */
export function blocksOf(page: string): Block[] {
  const sections = readFileSync(page, 'utf8').split(/^(?=##? )/m)
  return sections.flatMap((section) => {
    const heading = /^#+ (.*)/.exec(section)?.[1] ?? ''
    const notRun = section.search(/Not run/)
    return [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map((match) => ({
      heading,
      language: match[1]!,
      text: match[2]!,
      runs: notRun < 0 || match.index < notRun,
    }))
  })
}
