import type { Reader } from '../db/store.ts'
import { ROW_COLUMNS, readBeginning } from './changedMonths.ts'
import { requireManifest } from './manifest.ts'
import type { LakePlace } from './places/place.ts'

/** The state of a lake compared with its database. */
export interface LakeState {
  readonly folder: string
  readonly snapshot: number
  readonly values: number
  /** Time of the last sync, UTC to the millisecond. */
  readonly synced_at: string
  /** Fetches since then with changed rows. */
  readonly fetches_behind: number
}

/** Compares a lake with a database. Returns nothing for the lake of another database: the jobs of a folder may have several. */
export async function readLakeState(reader: Reader, place: LakePlace): Promise<LakeState[]> {
  const folder = place.asWritten
  const { snapshot, synced_at, source, tables } = requireManifest(await place.manifest(), folder)
  if (source.began !== null && source.began !== (await readBeginning(reader))) return []
  const { fetches_behind } = await reader.kysely
    .selectFrom('_fetch')
    .select(({ fn }) => fn.countAll<number>().as('fetches_behind'))
    .where('id', '>', source.fetch)
    .where('series_id', 'is not', null)
    .where(({ eb, or }) => or(ROW_COLUMNS.map((column) => eb(column, '>', 0))))
    .executeTakeFirstOrThrow()
  return [{ folder, snapshot, values: tables.observation.rows, synced_at, fetches_behind }]
}
