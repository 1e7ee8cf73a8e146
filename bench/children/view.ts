/* Reads a view to its end: `node view.ts database view one|all seconds`; null when it takes longer. */
import { openReader } from '../../src/db/open.ts'

const [database, view, scope, patience] = process.argv.slice(2) as [string, string, 'one' | 'all', string]
const reader = openReader(database)
const columns = (reader.all('select name from pragma_table_info(?)', [view]) as { name: string }[]).map(
  ({ name }) => name,
)
const series = reader.get(
  'select id from series order by id limit 1 offset (select count(*) / 2 from series)',
) as number
const [where, parameters] =
  scope === 'all' || !columns.includes('series_id') ? ['', []] : [' where series_id = ?', [series]]
const began = performance.now()
let rows = 0
let late = false
for (const _ of reader.rows(`select * from ${view}${where}`, parameters)) {
  rows++
  late = (rows & 0xfff) === 0 && performance.now() - began > Number(patience) * 1000
  if (late) break
}
process.stdout.write(`${late ? 'null' : JSON.stringify({ seconds: (performance.now() - began) / 1000, rows })}\n`)
await reader.close()
