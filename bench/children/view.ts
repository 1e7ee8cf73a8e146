/* Reads a view to its end: `node view.ts database view one|all`. */
import { openReader } from '../../src/db/open.ts'

const [database, view, scope] = process.argv.slice(2) as [string, string, 'one' | 'all']
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
for (const _ of reader.rows(`select * from ${view}${where}`, parameters)) rows++
process.stdout.write(`${JSON.stringify({ seconds: (performance.now() - began) / 1000, rows })}\n`)
await reader.close()
