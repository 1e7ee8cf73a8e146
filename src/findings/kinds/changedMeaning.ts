import { sql } from 'kysely'
import type { Reader } from '../../db/store.ts'
import { BEGINNING } from '../../db/tables/codes.ts'
import { epochSeconds } from '../../db/tables/sql/expressions.ts'
import { DAY, formatUtc, type Instant } from '../../util/time/instant.ts'
import type { KindRules } from '../kindRules.ts'
import type { ChangedMeaning, Trouble } from '../trouble.ts'
import { itemName } from '../words.ts'

/** The catalogue and the values of an id are requested at different times, at most some weeks apart. */
const MAX_DISTANCE_S = 31 * DAY

/** Nobody can end this finding, so it ends after a while; the tables keep the change. */
const REPORTED_S = 31 * DAY

/** Finds ids whose name and quantity both changed lately: the service uses them for something else now. */
export async function findChangedMeanings({ kysely }: Reader, now: Instant): Promise<Trouble[]> {
  const rows = await kysely
    .selectFrom('indicator_unit as u')
    .innerJoin('_fetch as f', 'f.id', 'u.fetch_id')
    .innerJoin('indicator_revision as r', (join) => join.onRef('r.kind', '=', 'u.kind').onRef('r.id', '=', 'u.id'))
    .innerJoin('_fetch as g', 'g.id', 'r.superseded_by')
    .innerJoin('indicator_text as t', (join) =>
      join.onRef('t.kind', '=', 'r.kind').onRef('t.id', '=', 'r.id').onRef('t.locale', '=', 'r.locale'),
    )
    .leftJoin('magnitude as m', 'm.id', 'u.magnitude_id')
    .where('u.from_at', '>', BEGINNING)
    .whereRef('r.name', '<>', 't.name')
    .select(['u.kind', 'u.id', 'u.from_at', 'r.name as oldName', 't.name'])
    .select(({ fn }) => fn.coalesce('m.unit', 'u.magnitude').as('unit'))
    .select((eb) => [epochSeconds(eb, 'f.finished_at').as('unitAt'), epochSeconds(eb, 'g.finished_at').as('nameAt')])
    .select((eb) =>
      eb
        .selectFrom('indicator_unit as o')
        .leftJoin('magnitude as p', 'p.id', 'o.magnitude_id')
        .whereRef('o.kind', '=', 'u.kind')
        .whereRef('o.id', '=', 'u.id')
        .whereRef('o.from_at', '<', 'u.from_at')
        .orderBy('o.from_at', 'desc')
        .limit(1)
        .select(({ fn }) => fn.coalesce('p.unit', 'o.magnitude').as('unit'))
        .as('oldUnit'),
    )
    .orderBy('u.kind')
    .orderBy('u.id')
    .orderBy('u.from_at')
    .orderBy(sql.ref('r.locale'))
    .execute()
  const recent = rows.filter(
    ({ unitAt, nameAt }) => Math.abs(unitAt - nameAt) <= MAX_DISTANCE_S && Math.max(unitAt, nameAt) > now - REPORTED_S,
  )
  const first = new Map(recent.toReversed().map((row) => [`${row.kind} ${row.id}`, row]))
  return [...first.values()].reverse().map((row): Trouble => {
    const { kind, id, from_at: from, oldName, name, oldUnit, unit, unitAt, nameAt } = row
    const sinceAt = Math.max(unitAt, nameAt)
    const meaning: ChangedMeaning = { kind, id, from, oldName, oldUnit, name, unit, sinceAt }
    return { kind: 'id changed meaning', meaning, sinceAt, jobIds: [], seriesIds: [], cause: null }
  })
}

const unitText = (name: string | null, unit: string | null): string => (unit === null ? `${name}` : `${name} (${unit})`)

/** The service uses an id for something else. */
export const changedMeaning: KindRules<'id changed meaning'> = {
  find: findChangedMeanings,
  subject: ({ meaning }) => itemName(`${meaning.kind} ${meaning.id}`),
  geoIds: null,
  message: ({ meaning: { kind, id, from, oldName, oldUnit, name, unit } }) =>
    `${kind} ${id} was ${unitText(oldName, oldUnit)} and is ${unitText(name, unit)} from ${formatUtc(from)} on: the service uses the id for something else. Check that the job still selects what you want. Reported for 31 days`,
  command: null,
}
