import type { Finding } from '../../findings/finding.ts'
import { floorToSecond } from '../../util/time/instant.ts'
import { formatLocal } from '../../util/time/zone.ts'
import { wrapText } from '../terminal/width.ts'

/** Writes the UTC times of a text as local times with their offset. */
export const inZone = (zone: string, text: string): string =>
  text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (moment) => formatLocal(zone, floorToSecond(moment)))

/** Writes findings in lines of some cells: the kind and what is wrong, then the command that ends it, in one line to copy. */
export const findingsText = (findings: readonly Finding[], cells: number, zone: string): string[] =>
  findings.flatMap(({ kind, message, command }) => [
    wrapText(`${kind}: ${inZone(zone, message)}`, cells, '  ', ''),
    ...(command === null ? [] : [`  → ${command}`]),
  ])
