import { existsSync } from 'node:fs'
import type { Reader } from '../db/store.ts'
import { beganAt } from './changedMonths.ts'
import { knownManifest } from './manifest.ts'
import { folderPlace } from './places/folder.ts'
import { isBucket, type LakePlace } from './places/place.ts'

/** How a lake compares with a database. */
export interface LakeState {
  readonly folder: string
  readonly snapshot: number
  readonly values: number
  /** When it was last found equal to the database, UTC to the millisecond. */
  readonly synced_at: string
  /** Fetches since then with changed rows. */
  readonly fetches_behind: number
}

/**
 * How far a lake in a folder is behind a database; a sentence where that cannot be determined, null where there is no lake yet.
 * Undefined for the lake of another database: the jobs of one folder may have several.
 */
export async function lakeStateIn(reader: Reader, folder: string): Promise<LakeState | string | null | undefined> {
  // A bucket is read only when it is named: that needs its secrets, and a network.
  if (isBucket(folder)) return 'it is in a bucket. To read it, run: indicator-sync status --job JOB.yaml'
  if (!existsSync(folder)) return null
  try {
    const place = folderPlace(folder)
    const began = (await place.manifest())?.source.began ?? null
    return began !== null && began !== (await beganAt(reader)) ? undefined : await lakeState(reader, place)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return error.message
  }
}

/** How far a lake is behind a database. */
export async function lakeState({ kysely }: Reader, place: LakePlace): Promise<LakeState> {
  const folder = place.asWritten
  const { snapshot, synced_at, source, tables } = knownManifest(await place.manifest(), folder)
  const { fetches_behind } = await kysely
    .selectFrom('_fetch')
    .select(({ fn }) => fn.countAll<number>().as('fetches_behind'))
    .where('id', '>', source.fetch)
    .where('series_id', 'is not', null)
    .where((of) => of.or((['rows_new', 'rows_revised', 'rows_withdrawn'] as const).map((rows) => of(rows, '>', 0))))
    .executeTakeFirstOrThrow()
  return { folder, snapshot, values: tables.observation.rows, synced_at, fetches_behind }
}
