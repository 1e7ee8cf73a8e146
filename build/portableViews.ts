/* Prints the SQL of views as PostgreSQL reads it, for a migration: `npm run portable -- coverage`; without a name, of every view. */
import { portable } from '../src/db/portable.ts'
import { VIEWS } from '../src/tables/schema.ts'
import type { DatabaseView } from '../src/tables/sql/views.ts'

const names = process.argv.slice(2)
const unknown = names.filter((name) => !Object.hasOwn(VIEWS, name))
if (unknown.length > 0) {
  process.stderr.write(`${unknown.join(', ')}: not a view; legal: ${Object.keys(VIEWS).join(', ')}\n`)
  process.exit(2)
}
for (const [name, { sql, postgres }] of Object.entries<DatabaseView>(VIEWS))
  if (names.length === 0 || names.includes(name))
    process.stdout.write(`create or replace view ${name} as ${portable(postgres ?? sql)};\n`)
