import type { Migration } from 'kysely/migration'
import * as first from '../../migrations/0001_first_schema.ts'
import * as tape from '../../migrations/0002_tape.ts'
import * as tapeForm from '../../migrations/0003_tape_form.ts'
import * as product from '../../migrations/0004_product.ts'

/** Every migration, oldest first. `user_version` of a database is how many of them it has seen. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001_first_schema': first,
  '0002_tape': tape,
  '0003_tape_form': tapeForm,
  '0004_product': product,
}
