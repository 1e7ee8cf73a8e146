import { StoreError } from '../../util/errors.ts'
import { shownAddress } from '../address.ts'
import type { Store } from '../store.ts'
import { runSql } from './connection/runSql.ts'

/*
 * What is written beside `_run` while another database is taken over: an interrupted copy is continued, and only from the same
 * source; until then nobody else takes it for a whole database.
 */

const MARK = 'taken over from '

export const markOf = (source: string): string => `${MARK}${source}`

/** The mark of a database, as an expression of SQL; null where there are no tables. */
export const MARK_SQL = `(select d from obj_description(to_regclass('public._run'), 'pg_class') d where starts_with(d, '${MARK}'))`

export const writeMark = ({ kysely }: Store, mark: string | null) =>
  runSql(kysely, `comment on table _run is ${mark === null ? 'null' : `'${mark.replaceAll("'", "''")}'`}`, [])

/** Why an unfinished copy is not opened. */
export const unfinishedCopy = (address: string): StoreError =>
  new StoreError(`The database ${shownAddress(address)} is the unfinished copy of a file: values are missing.`, {
    hint: 'Run the same `indicator-sync migrate --from FILE` again, which copies the rest; or drop the database.',
    code: 'unfinished-copy',
  })
