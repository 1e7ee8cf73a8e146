import type { Transaction } from 'kysely'
import { prepareQuery } from '../db/prepared.ts'
import { BEGINNING } from '../db/tables/codes.ts'
import type { Rows } from '../db/tables/rows.ts'
import type { Database } from '../db/tables/schema.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { NO_TIME } from '../util/time/interval.ts'
import { type DayNumber, dayIntervalAt, dayNumber, localDay, toCivil } from '../util/time/localDay.ts'
import { decideUnits, differs, type Quantity, type StoredDays, type UnitStretch } from './decideUnits.ts'

/** The quantity of an indicator as last stated, joined with each of its stretches. */
const storedUnits = prepareQuery((db, { kind, id }: { kind: string; id: number }) =>
  db
    .selectFrom('indicator as i')
    .leftJoin('indicator_unit as u', (join) => join.onRef('u.kind', '=', 'i.kind').onRef('u.id', '=', 'i.id'))
    .where('i.kind', '=', kind)
    .where('i.id', '=', id)
    .orderBy('u.from_at')
    .select([
      'i.magnitude_id as last_id',
      'i.magnitude as last_name',
      'u.from_at',
      'u.magnitude_id',
      'u.magnitude',
      'u.fetch_id',
    ]),
)

/** Reads the stored days of an indicator from a day on, up to the first one after another day. */
async function readStoredDays(
  tx: Transaction<Database>,
  { kind, id }: { readonly kind: string; readonly id: number },
  first: DayNumber,
  last: DayNumber,
): Promise<StoredDays> {
  const from = toCivil(first)
  const to = toCivil(last)
  const days = tx
    .selectFrom('_day as d')
    .innerJoin('series as s', 's.id', 'd.series_id')
    .where('s.kind', '=', kind)
    .where('s.indicator_id', '=', id)
    .select(['d.month', 'd.day'])
  const inside = await days
    .where((eb) => eb(eb.refTuple('d.month', 'd.day'), '>=', eb.tuple(from.month, from.dayOfMonth)))
    .where((eb) => eb(eb.refTuple('d.month', 'd.day'), '<=', eb.tuple(to.month, to.dayOfMonth)))
    .distinct()
    .orderBy('d.month')
    .orderBy('d.day')
    .execute()
  const after = await days
    .where((eb) => eb(eb.refTuple('d.month', 'd.day'), '>', eb.tuple(to.month, to.dayOfMonth)))
    .orderBy('d.month')
    .orderBy('d.day')
    .limit(1)
    .execute()
  const before = await days
    .where((eb) => eb(eb.refTuple('d.month', 'd.day'), '<', eb.tuple(from.month, from.dayOfMonth)))
    .limit(1)
    .execute()
  return {
    days: [...inside, ...after].map(({ month, day }) => dayNumber({ month, dayOfMonth: day })),
    hasEarlier: before.length > 0,
  }
}

/** The local days of the values of a reply, in order. */
function replyDays(zone: string, at: readonly number[]): DayNumber[] {
  const days = new Set<DayNumber>()
  let current = NO_TIME
  for (const instant of at) {
    if (instant >= current.from && instant < current.to) continue
    const next = dayIntervalAt(zone, instant)
    days.add(next.day)
    current = next
  }
  return [...days].sort((a, b) => a - b)
}

/**
 * Records from when on the quantity of a reply applies, if it differs from that of stored values. Call it before the reply is written. Most
 * indicators always have the same quantity, and no rows.
 */
export async function recordUnits(
  tx: Transaction<Database>,
  planned: PlannedRequest,
  fetchId: number,
  { observations, tables }: Rows,
): Promise<void> {
  const row = tables.find(({ table }) => table === 'indicator')?.rows[0]
  if (!observations || !row) return
  const { kind, id, magnitude_id = null, magnitude = null } = row as { kind: string; id: number } & Partial<Quantity>
  const stated = { magnitude_id, magnitude, fetch_id: fetchId }
  const units = await storedUnits.all(tx, { kind, id })
  const [stored] = units
  if (!stored || (magnitude_id === null && magnitude === null)) return
  const { last_id, last_name } = stored
  const rows = units.flatMap((unit) => (unit.from_at === null ? [] : [unit as UnitStretch]))
  const stretches =
    rows.length > 0 ? rows : [{ from_at: BEGINNING, magnitude_id: last_id, magnitude: last_name, fetch_id: null }]
  const hasSameLanguage = planned.locale === planned.service.locales[0]
  if (!stretches.some((stretch) => differs(stretch, stated, hasSameLanguage))) return
  const days = replyDays(planned.timeZone, observations.at)
  const storedDays =
    days.length === 0 ? { days, hasEarlier: true } : await readStoredDays(tx, { kind, id }, days[0]!, days.at(-1)!)
  const startOf = (day: DayNumber): number => localDay(planned.timeZone, day).from
  const decided = decideUnits(stretches, stated, days, storedDays, startOf)
  if (
    decided.length === rows.length &&
    decided.every((unit, i) => unit.from_at === rows[i]!.from_at && unit.fetch_id === rows[i]!.fetch_id)
  )
    return
  await tx.deleteFrom('indicator_unit').where('kind', '=', kind).where('id', '=', id).execute()
  const inserted = decided.map(({ from_at, magnitude_id, magnitude, fetch_id }) => ({
    kind,
    id,
    from_at,
    magnitude_id,
    magnitude,
    fetch_id,
  }))
  await tx.insertInto('indicator_unit').values(inserted).execute()
}
