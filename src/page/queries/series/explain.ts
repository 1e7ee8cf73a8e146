import { prepared } from '../../../db/prepared.ts'
import { GOOD_OUTCOMES } from '../../../db/queries/fetchOutcomes.ts'
import type { Reader } from '../../../db/store.ts'
import { isObject, type Json } from '../../../util/json.ts'
import { decompressBody } from '../../../util/storedBody.ts'
import { type Instant, parseInstant } from '../../../util/time/instant.ts'
import type { GeoSeries } from './window.ts'

/** A request, and the run that sent it. */
export interface ExplainedRequest {
  readonly fetch: number
  readonly run: number
  readonly job: string | null
  readonly command: string | null
  readonly entry: string
  readonly reason: string | null
  readonly target: string
  readonly status: number | null
  readonly ms: number
  readonly at: string
  readonly reply: string | null
}

/** The position of a value in a stored answer. */
interface AnswerPosition {
  /** JSON path. */
  readonly path: string
  readonly fragment: string
}

/** Why the position of a value in its answer cannot be shown. */
type NoPlace = 'pruned' | 'damaged' | 'not-found' | 'large'

/** One version of a value with where it comes from. */
export interface ExplainedVersion {
  readonly value: number | null
  readonly step: number
  readonly origin: ExplainedRequest | null
  /** The request that ended it; null for the current version. */
  readonly until: ExplainedRequest | null
  readonly place: AnswerPosition | NoPlace
}

/** A value with all its versions, the newest first. */
export interface ExplainedValue {
  readonly at: Instant
  /** The newest first; the first one is current unless it was withdrawn. */
  readonly versions: readonly ExplainedVersion[]
  /** The last answer that covered this instant, whether it changed anything or not. */
  readonly confirmed: ExplainedRequest | null
}

/** Bytes. Larger answers are not searched for a value. */
const SEARCHED = 64 * 1024 * 1024

const FETCH = [
  ...(['f.id as fetch', 'f.run_id as run', 'r.job', 'r.command', 'f.entry', 'f.reason', 'f.target'] as const),
  ...(['f.status', 'f.ms', 'f.finished_at as at', 'f.reply_hash as reply'] as const),
]

const originOf = prepared((db, of: { id: number }) =>
  db.selectFrom('_fetch as f').leftJoin('_run as r', 'r.id', 'f.run_id').select(FETCH).where('f.id', '=', of.id),
)

async function originsOf({ kysely }: Reader, ids: readonly number[]): Promise<Map<number, ExplainedRequest>> {
  const origins = new Map<number, ExplainedRequest>()
  for (const id of new Set(ids)) {
    const row = await originOf.first(kysely, { id })
    if (row) origins.set(id, row)
  }
  return origins
}

/** The geo of a value in an answer, by the rules of the loader. */
const geoIn = ({ geo_id: id, geo_ids: ids }: Readonly<Record<string, unknown>>): unknown =>
  id ?? (Array.isArray(ids) && ids.length === 1 ? ids[0] : 0)

/** The last position of the value of an instant and geo in an answer: where there are two, the later one counts. */
function findValue(body: unknown, { geoId }: GeoSeries, at: Instant): AnswerPosition | undefined {
  if (!isObject(body)) return undefined
  for (const [name, dataset] of Object.entries(body)) {
    if (!isObject(dataset) || !Array.isArray(dataset.values)) continue
    const i = dataset.values.findLastIndex((row: unknown) => {
      if (!isObject(row) || geoIn(row) !== geoId) return false
      const text = row.datetime ?? row.tz_time
      return typeof text === 'string' && parseInstant(text) === at
    })
    if (i >= 0)
      return {
        path: `$.${name}.values[${i}]`,
        fragment: JSON.stringify(dataset.values[i] as Json, null, 1).slice(0, 2_000),
      }
  }
  return undefined
}

async function findInAnswer(
  { kysely }: Reader,
  line: GeoSeries,
  at: Instant,
  hash: string | null,
): Promise<AnswerPosition | NoPlace> {
  const row =
    hash === null
      ? undefined
      : await kysely.selectFrom('_reply').select(['body', 'bytes']).where('hash', '=', hash).executeTakeFirst()
  if (row === undefined) return 'pruned'
  if (row.bytes > SEARCHED) return 'large'
  try {
    const body = await decompressBody(row.body, row.bytes)
    return findValue(JSON.parse(body.toString('utf8')), line, at) ?? 'not-found'
  } catch {
    return 'damaged'
  }
}

/** The last answer that covered an instant of a series and geo. */
async function confirmedBy({ kysely }: Reader, { seriesId, geoId }: GeoSeries, at: Instant): Promise<number | null> {
  const rows = await kysely
    .selectFrom('_fetch')
    .select(['id', 'geo_ids'])
    .where('series_id', '=', seriesId)
    .where('outcome', 'in', GOOD_OUTCOMES)
    .where('from_at', '<=', at)
    .where('to_at', '>', at)
    .orderBy('id', 'desc')
    .execute()
  return rows.find(({ geo_ids }) => geo_ids === null || geo_ids.split(',').includes(String(geoId)))?.id ?? null
}

/** Where a value comes from: every version of it, back to its request, its run and the place in the stored answer. Undefined where there never was one. */
export async function explainValue(db: Reader, line: GeoSeries, at: Instant): Promise<ExplainedValue | undefined> {
  const { seriesId, geoId } = line
  const current = await db.kysely
    .selectFrom('observation')
    .select(['value', 'step_s as step', 'fetch_id'])
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geoId)
    .where('at', '=', at)
    .execute()
  const earlier = await db.kysely
    .selectFrom('observation_revision')
    .select(['value', 'step_s as step', 'fetch_id', 'superseded_by'])
    .where('series_id', '=', seriesId)
    .where('geo_id', '=', geoId)
    .where('at', '=', at)
    .orderBy('fetch_id', 'desc')
    .execute()
  const rows = [...current.map((row) => ({ ...row, superseded_by: null })), ...earlier]
  if (rows.length === 0) return undefined
  const confirmed = await confirmedBy(db, line, at)
  const ids = rows.flatMap(({ fetch_id, superseded_by }) => [fetch_id, superseded_by ?? fetch_id])
  const origins = await originsOf(db, [...ids, ...(confirmed === null ? [] : [confirmed])])
  const versions: ExplainedVersion[] = []
  for (const { value, step, fetch_id, superseded_by } of rows) {
    const origin = origins.get(fetch_id) ?? null
    const until = superseded_by === null ? null : (origins.get(superseded_by) ?? null)
    versions.push({ value, step, origin, until, place: await findInAnswer(db, line, at, origin?.reply ?? null) })
  }
  return { at, versions, confirmed: confirmed === null ? null : (origins.get(confirmed) ?? null) }
}
