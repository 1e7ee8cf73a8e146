import type { Finding } from '../../findings/finding.ts'
import { wrapText } from '../terminal/width.ts'

/** Writes findings in lines of some cells: the kind and what is wrong, then the command that ends it, in one line to copy. */
export const findingsText = (findings: readonly Finding[], cells: number): string[] =>
  findings.flatMap(({ kind, message, command }) => [
    wrapText(`${kind}: ${message}`, cells, '  ', ''),
    ...(command === null ? [] : [`  → ${command}`]),
  ])
