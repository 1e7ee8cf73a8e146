import { existsSync } from 'node:fs'
import type { Reader } from '../db/store.ts'
import { ROW_COLUMNS, readBeginning } from './changedMonths.ts'
import { requireManifest } from './manifest.ts'
import { folderPlace } from './places/folder.ts'
import { isBucket, type LakePlace } from './places/place.ts'

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

/**
 * Compares a lake in a folder with a database. Returns a sentence if that fails, null without a lake, and undefined for the
 * lake of another database, because the jobs of a folder may have several.
 */
export async function lakeStateIn(reader: Reader, folder: string): Promise<LakeState | string | null | undefined> {
  // A bucket needs its secrets and a network, so it is read only if it is named.
  if (isBucket(folder)) return 'it is in a bucket. To read it, run: indicator-sync status --job JOB.yaml'
  if (!existsSync(folder)) return null
  try {
    const place = folderPlace(folder)
    const began = (await place.manifest())?.source.began ?? null
    return began !== null && began !== (await readBeginning(reader)) ? undefined : await lakeState(reader, place)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return error.message
  }
}

/** Compares a lake with a database. */
export async function lakeState({ kysely }: Reader, place: LakePlace): Promise<LakeState> {
  const folder = place.asWritten
  const { snapshot, synced_at, source, tables } = requireManifest(await place.manifest(), folder)
  const { fetches_behind } = await kysely
    .selectFrom('_fetch')
    .select(({ fn }) => fn.countAll<number>().as('fetches_behind'))
    .where('id', '>', source.fetch)
    .where('series_id', 'is not', null)
    .where(({ eb, or }) => or(ROW_COLUMNS.map((column) => eb(column, '>', 0))))
    .executeTakeFirstOrThrow()
  return { folder, snapshot, values: tables.observation.rows, synced_at, fetches_behind }
}
