import { openReader } from '../../test/store.ts'

/* Reads a view to its end: `node view.ts database view one|all|total`. */

const [database, view, scope] = process.argv.slice(2) as [string, string, 'one' | 'all' | 'total']
const reader = openReader(database)
const columns = (reader.all('select name from pragma_table_info(?)', [view]) as { name: string }[]).map(
  ({ name }) => name,
)
const series = reader.get(
  'select id from series order by id limit 1 offset (select count(*) / 2 from series)',
) as number
const read = (): readonly [string, number[]] => {
  if (scope === 'total')
    return columns.includes('energy')
      ? [`select indicator_id, count(*), sum(count), sum(energy), max(max) from ${view} group by indicator_id`, []]
      : [`select count(*) from ${view}`, []]
  return scope === 'one' && columns.includes('series_id')
    ? [`select * from ${view} where series_id = ?`, [series]]
    : [`select * from ${view}`, []]
}
const began = performance.now()
let rows = 0
for (const _ of reader.rows(...read())) rows++
process.stdout.write(`${JSON.stringify({ seconds: (performance.now() - began) / 1000, rows })}\n`)
await reader.close()
