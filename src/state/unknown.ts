import { floorToSecond } from '../base/instant.ts'
import type { Reader } from '../db/open.ts'
import type { UnknownItem } from '../job/plannerState.ts'
import type { RouteName } from '../services/routes.ts'

/** An indicator or widget that the service does not know. */
export interface Unknown extends UnknownItem {
  readonly route: RouteName
  readonly id: string | number
}

interface Refusal {
  readonly fetchId: number
  readonly route: RouteName
  readonly item: string | number
  readonly path: string
  readonly at: string
}

/** What the service said it does not know (404, 410) and has not answered for since, by route and id. */
export function readUnknown(db: Reader): ReadonlyMap<string, Unknown> {
  const refusals =
    db.all(`select f.id as "fetchId", f.route, json_extract(f.params, '$.id') as item, f.finished_at as at,
      substr(f.target, 1, instr(f.target || '?', '?') - 1) as path
    from _fetch f
    where f.outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped') and f.outcome = 'refused' and f.status in (404, 410)
      and f.route in ('indicator', 'offer_indicator', 'widget')
    order by f.id`) as Refusal[]
  const answered = new Map<string, number>()
  const unknown = new Map<string, Unknown>()
  for (const { fetchId, route, item, path, at } of refusals) {
    if (!answered.has(path))
      answered.set(
        path,
        (db.get(
          `select max(f.id) from _fetch f
           where (f.target = ? or f.target between ? and ?) and f.outcome in ('ok', 'empty', 'coarse')`,
          [path, `${path}?`, `${path}@`],
        ) as number | null) ?? 0,
      )
    if (fetchId < answered.get(path)!) continue
    const lastAt = floorToSecond(at)
    const key = `${route} ${item}`
    unknown.set(key, { route, id: item, sinceAt: unknown.get(key)?.sinceAt ?? lastAt, lastAt })
  }
  return unknown
}
