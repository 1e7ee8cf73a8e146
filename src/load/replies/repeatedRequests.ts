import { type Kysely, sql } from 'kysely'
import { GOOD_OUTCOMES } from '../../db/queries/fetchOutcomes.ts'
import { REGULAR_COMMANDS } from '../../db/queries/jobRuns.ts'
import { type Database, TABLE_NAMES, type TableName, tableOf } from '../../db/tables/schema.ts'
import { LAST_FETCHES } from '../../state/judgeInput.ts'
import { LAST_RUNS } from '../../state/rhythm.ts'
import { parseNumbers } from '../../util/json.ts'
import { floorToSecond, HOUR } from '../../util/time/instant.ts'
import { type Interval, merge, subtract } from '../../util/time/interval.ts'
import { LONGEST_DAY_S } from '../../util/time/localDay.ts'

/*
 * Finds records of requests that nothing needs any more: they changed nothing, and later requests of the same job and reason repeat
 * them. Failures, records of changes and the last request for everything stay, so that every decision stays the same.
 */

/** Records that are read at once. */
const PER_READ = 5_000

/** Tables of values. They refer only to requests that changed something. */
const VALUE_TABLES: readonly TableName[] = ['observation', 'observation_revision']
/** The columns with ids of requests. */
const REFERENCES = ['fetch_id', 'superseded_by', 'confirmed_by'] as const

/** Reads the ids of requests to which rows refer, other than values. */
async function readReferenced(db: Kysely<Database>): Promise<ReadonlySet<number>> {
  const referenced = new Set<number>()
  for (const table of TABLE_NAMES)
    for (const column of REFERENCES) {
      if (VALUE_TABLES.includes(table) || !(column in tableOf(table).columns)) continue
      const id = sql<number | null>`${sql.ref(column)}`
      const rows = await db.selectFrom(table).select(id.as('id')).distinct().execute()
      for (const row of rows) if (row.id !== null) referenced.add(row.id)
    }
  return referenced
}

/** Reads the runs in progress, and the last runs of each job, by which its rhythm is judged. */
async function readRecentRuns(db: Kysely<Database>): Promise<ReadonlySet<number>> {
  const runs = await db
    .selectFrom('_run')
    .select(['id', 'job_id', 'command', 'finished_at'])
    .orderBy('id', 'desc')
    .execute()
  const counts = new Map<number | null, number>()
  const recent = new Set<number>()
  for (const { id, job_id, command, finished_at } of runs) {
    const isRegular = REGULAR_COMMANDS.includes(command)
    const count = counts.get(job_id) ?? 0
    if (finished_at === null || (isRegular && count < LAST_RUNS)) recent.add(id)
    if (isRegular) counts.set(job_id, count + 1)
  }
  return recent
}

const selectGood = (db: Kysely<Database>, before: number) =>
  db
    .selectFrom('_fetch as f')
    .innerJoin('_run as r', 'r.id', 'f.run_id')
    .leftJoin('_reply as b', 'b.hash', 'f.reply_hash')
    .select((eb) => [
      'f.id',
      'f.run_id',
      'f.entry',
      'f.reason',
      'f.target',
      'f.from_at',
      'f.to_at',
      'f.geo_ids',
      'f.outcome',
      'f.resolution_id',
      'f.settled_before',
      'f.finished_at',
      eb('f.rows_new', '+', eb('f.rows_revised', '+', eb.ref('f.rows_withdrawn'))).as('changes'),
      'r.job_id',
      'b.hash as body',
    ])
    .where('f.outcome', 'in', GOOD_OUTCOMES)
    .where('f.rows_rejected', '=', 0)
    .where('f.id', '<', before)
    .orderBy('f.id', 'desc')
    .limit(PER_READ)

type GoodRequest = Awaited<ReturnType<ReturnType<typeof selectGood>['execute']>>[number]

/** Reads the sound replies of a series, or of lists, the newest first. */
async function* readGood(db: Kysely<Database>, seriesId: number | null): AsyncGenerator<GoodRequest> {
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const good = selectGood(db, before)
    const rows = await (seriesId === null
      ? good.where('f.series_id', 'is', null)
      : good.where('f.series_id', '=', seriesId)
    ).execute()
    yield* rows
    if (rows.length < PER_READ) return
    before = rows.at(-1)!.id
  }
}

/** What later requests of one kind fetched, by their geos. */
class LaterWindows {
  readonly #byGeos = new Map<string | null, readonly Interval[]>()

  add(geoIds: string | null, window: Interval): void {
    this.#byGeos.set(geoIds, merge([...(this.#byGeos.get(geoIds) ?? []), window]))
  }

  /** Whether later requests, each for at least these geos, cover a window. */
  cover(geoIds: string | null, window: Interval): boolean {
    const geos = parseNumbers(geoIds)
    const windows = [...this.#byGeos].flatMap(([laterIds, intervals]) => {
      const later = parseNumbers(laterIds)
      return later === null || geos?.every((geo) => later.includes(geo)) ? intervals : []
    })
    return subtract([window], merge(windows)).length === 0
  }
}

/**
 * Creates a function that says whether later requests for a series repeat one. It takes the newest request first. The last requests up to
 * the present stay, by which the usual delay is judged, and one of each resolution of single days.
 */
function createWindowJudge(): (request: GoodRequest) => boolean {
  const later = new Map<string, LaterWindows>()
  const dayResolutions = new Set<number>()
  let upToPresent = 0
  return (request) => {
    const { from_at: from, to_at: to, geo_ids, reason, job_id, settled_before, resolution_id, finished_at } = request
    // Requests for an instant stay: whether a later instant was requested decides about their rejects.
    if (from === null || to === null) return false
    const isBacklog = settled_before !== null && to <= settled_before
    const kind = JSON.stringify([job_id, reason, isBacklog])
    const windows = later.get(kind) ?? new LaterWindows()
    later.set(kind, windows)
    const isLag = to >= floorToSecond(finished_at) - HOUR && upToPresent++ < LAST_FETCHES
    const isNewResolution = to - from <= LONGEST_DAY_S && resolution_id !== null && !dayResolutions.has(resolution_id)
    if (isNewResolution) dayResolutions.add(resolution_id)
    const isRepeated = !isLag && !isNewResolution && windows.cover(geo_ids, { from, to })
    windows.add(geo_ids, { from, to })
    return isRepeated
  }
}

/** Finds repeated requests for lists by their path and query. */
function createListJudge(): (request: GoodRequest) => boolean {
  const later = new Set<string>()
  return ({ job_id, reason, entry, target }) => {
    const kind = JSON.stringify([job_id, reason, entry, target])
    const isRepeated = later.has(kind)
    later.add(kind)
    return isRepeated
  }
}

/**
 * Finds the records of requests before an instant that later ones repeat. `isKept`: whether a stored body stays; so do its requests,
 * because a replay loads them again.
 */
export async function findRepeatedRequests(
  db: Kysely<Database>,
  before: string,
  isKept: (hash: string) => boolean,
): Promise<number[]> {
  const referenced = await readReferenced(db)
  const recentRuns = await readRecentRuns(db)
  const repeated: number[] = []
  const series = await db.selectFrom('series').select('id').orderBy('id').execute()
  for (const seriesId of [null, ...series.map(({ id }) => id)]) {
    const isRepeated = seriesId === null ? createListJudge() : createWindowJudge()
    for await (const request of readGood(db, seriesId)) {
      const { id, run_id, changes, body, finished_at } = request
      const isNeeded =
        changes > 0 ||
        finished_at >= before ||
        referenced.has(id) ||
        recentRuns.has(run_id) ||
        (body !== null && isKept(body))
      if (isRepeated(request) && !isNeeded) repeated.push(id)
    }
  }
  // Keeps one request, so that a replay still knows that bodies are missing.
  return repeated.sort((a, b) => a - b).slice(0, -1)
}
