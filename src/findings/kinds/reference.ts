import type { Reader } from '../../db/store.ts'
import { quantity } from '../../util/text.ts'
import type { KindRules } from '../kindRules.ts'
import type { Trouble } from '../trouble.ts'

/** Finds rows that refer to missing rows, by table. */
async function findDangling({ engine }: Reader): Promise<Trouble[]> {
  const rows = await engine.findDanglingRows()
  return [...Map.groupBy(rows, ({ table, parent }) => `${table} ${parent}`).values()].map((group): Trouble => {
    const { table, row, parent } = group[0]!
    const more = group.length === 1 ? '' : `, and ${quantity(group.length - 1, 'more row', 'more rows')}`
    const what = `row ${row ?? '?'} refers to a missing row of ${parent}${more}`
    return { kind: 'reference', subject: table, what, sinceAt: null, jobIds: [], seriesIds: [], cause: null }
  })
}

/** Rows refer to missing rows. */
export const reference: KindRules<'reference'> = {
  find: findDangling,
  subject: ({ subject }) => subject,
  geoIds: null,
  message: ({ subject, what }, { toCommand }) =>
    `${subject} ${what}. Check the database with \`${toCommand('doctor')}\`, then rebuild it with \`${toCommand('replay')}\``,
  command: null,
}
