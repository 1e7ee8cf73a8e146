import { readKinds } from '../../db/queries/catalogueNames.ts'
import type { Reader } from '../../db/store.ts'
import { itemKind, routesOf } from '../../service/routes.ts'
import type { Service } from '../../service/service.ts'
import { didYouMean } from '../../util/didYouMean.ts'
import { InputError } from '../../util/errors.ts'

/** The archives and days of the editions to list, download or load. */
export interface EditionSelection {
  /** The kind of archive; null for all. */
  readonly kind: string | null
  /** Ids of archives; empty for all. */
  readonly ids: readonly number[]
  readonly name: string | undefined
  /** The first day and the day after the last one; null without a limit. */
  readonly from: string | null
  readonly to: string | null
}

/** Reads the kinds of archives that the service declares or that are stored. */
export async function readArchiveKinds(db: Reader, service: Service): Promise<string[]> {
  const declared = routesOf(service.routes, 'archives').map((route) => itemKind(service.routes, route))
  return [...new Set([...declared, ...(await readKinds(db, 'archive'))])]
}

/** How to find the archives that exist. */
const LIST_HINT =
  'List the stored ones: indicator-sync archives list --limit 0. If there are none, add archives: [{ window: { last: 31d } }] to a job and sync it.'

/** Throws an InputError for ids and a name of archives that are not stored. */
export async function refuseUnknownArchives(
  { kysely }: Reader,
  { ids, name }: Pick<EditionSelection, 'ids' | 'name'>,
): Promise<void> {
  if (ids.length === 0 && name === undefined) return
  const rows = await kysely.selectFrom('archive_publications').select(['id', 'name']).distinct().execute()
  const stored = new Set(rows.map(({ id }) => id))
  const unknown = ids.filter((id) => !stored.has(id))
  const refuse = (message: string): never => {
    throw new InputError(message, { hint: LIST_HINT, code: 'unknown-archive' })
  }
  if (unknown.length > 0) refuse(`No stored archive has the id ${unknown.join(', ')}.`)
  const names = [...new Set(rows.map((row) => row.name ?? ''))]
  if (name !== undefined && !names.includes(name))
    refuse(`No stored archive is named ${JSON.stringify(name)}.${didYouMean(name, names)}`)
}

/** Finds the selected editions with their downloaded files, the latest first. */
export const findEditions = ({ kysely }: Reader, { kind, ids, name, from, to }: EditionSelection) =>
  kysely
    .selectFrom('archive_publications')
    .select(['kind', 'id', 'name', 'date', 'url', 'path', 'bytes', 'sha256'])
    .$if(kind !== null, (query) => query.where('kind', '=', kind!))
    .$if(name !== undefined, (query) => query.where('name', '=', name!))
    .$if(ids.length > 0, (query) => query.where('id', 'in', ids))
    .$if(from !== null, (query) => query.where('date', '>=', from!))
    .$if(to !== null, (query) => query.where('date', '<', to!))
    .orderBy('date', 'desc')
    .orderBy('kind')
    .orderBy('id')
    .execute()

/** An edition of an archive, with its downloaded file if it has one. */
export type Edition = Awaited<ReturnType<typeof findEditions>>[number]
