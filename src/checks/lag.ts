import { floorToSecond, formatUtc, type Instant } from '../base/instant.ts'
import type { Reader } from '../db/open.ts'
import { lengthText, quantile } from './rhythm.ts'

/** Answers of a series that are looked at. */
const ANSWERS = 30
const DAY = 86_400
/** A series that is behind by this much more than usual has ended. */
const ENDED = 60 * DAY
/** Without a usual lag a series is behind when its last value is older than this, and than three of its steps. */
const OLD = 7 * DAY

interface Answer {
  readonly finished_at: string
  readonly last_at: Instant
  readonly step_s: number | null
  readonly to_at: Instant
}

/** A series that is further behind than usual. */
export interface Lag {
  readonly seriesId: number
  readonly what: string
}

interface SeriesRow {
  readonly id: number
  readonly indicator_id: number
  readonly time_trunc: string | null
  readonly withdrawn: 0 | 1
  readonly last_at: Instant | null
  readonly step_s: number | null
  readonly checked_at: string | null
  readonly reach: Instant | null
}

const behindText = (seconds: number): string => `${lengthText(seconds)} ${seconds < 0 ? 'ahead' : 'behind'}`

/** Whether the job that last asked a series has run since without asking it: it does not want it any more. */
const isLeft = (db: Reader, seriesId: number, patience: number): boolean =>
  db.get(
    `select 1 from _fetch f join _run r on r.id = f.run_id
     where f.id = (select max(l.id) from _fetch l where l.series_id = ?)
       and exists (select 1 from _run n where n.job = r.job and n.command = r.command and n.id > r.id and n.requests > 0
         and unixepoch(n.started_at) > unixepoch(f.finished_at) + ?)`,
    [seriesId, patience],
  ) !== undefined

/** How far a series usually is behind when it is asked, and how far it may be before it is asked again; undefined where too little is known. */
function usualLag(
  answers: readonly Answer[],
  now: Instant,
): { usual: number; allowed: number; interval: number } | undefined {
  if (answers.length < 3) return undefined
  // A window whose end stays where it is and is past was about the past.
  const ends = new Set(answers.map(({ to_at }) => to_at))
  if (ends.size === 1 && now > answers[0]!.to_at) return { usual: 0, allowed: Number.POSITIVE_INFINITY, interval: DAY }
  const times = answers.map(({ finished_at }) => floorToSecond(finished_at)).sort((a, b) => a - b)
  const lags = answers.map(({ finished_at, last_at, step_s }) => floorToSecond(finished_at) - last_at - (step_s ?? 0))
  const between = times
    .slice(1)
    .map((at, i) => at - times[i]!)
    .filter((seconds) => seconds > 60)
  const interval = between.length === 0 ? DAY : quantile(between, 0.5)
  const step = Math.max(...answers.map(({ step_s }) => step_s ?? 0))
  // Three of four: some nights in which the source was late do not make lateness usual.
  const usual = quantile(lags, 0.75)
  const spread = usual - quantile(lags, 0.1)
  return { usual, allowed: usual + Math.max(interval * 1.25, step) + spread / 2, interval }
}

/** Series that are further behind now than they usually are, each in a sentence. */
export function staleSeries(db: Reader, now: Instant = Math.floor(Date.now() / 1000)): Lag[] {
  const series = db.all(`select s.id, s.indicator_id, s.time_trunc,
      exists (select 1 from indicator i where i.kind = s.kind and i.id = s.indicator_id and i.withdrawn_at is not null) as withdrawn,
      l.last_at, (select o.step_s from series_geo g join observation o on o.series_id = g.series_id and o.geo_id = g.geo_id
        where g.series_id = s.id and o.at = l.last_at limit 1) as step_s,
      (select f.finished_at from _fetch f where f.series_id = s.id and f.outcome in ('ok', 'empty') order by f.finished_at desc limit 1) as checked_at,
      (select max(c.to_at) from _coverage c where c.series_id = s.id) as reach
    from series s join (
      select g.series_id, max((select max(o.at) from observation o where o.series_id = g.series_id and o.geo_id = g.geo_id)) as last_at
      from series_geo g group by g.series_id
    ) l on l.series_id = s.id order by s.id`) as SeriesRow[]
  return series.flatMap(({ id, indicator_id, time_trunc, withdrawn, last_at, step_s, checked_at, reach }): Lag[] => {
    if (withdrawn || last_at === null || checked_at === null) return []
    const answers = db.all(
      `select f.finished_at, f.last_at, f.step_s, f.to_at from _fetch f
       where f.series_id = ? and f.outcome in ('ok', 'empty') and f.last_at is not null and f.to_at >= unixepoch(f.finished_at) - 3600
       order by f.finished_at desc limit ${ANSWERS}`,
      [id],
    ) as Answer[]
    const step = step_s ?? 0
    const behind = now - last_at - step
    const name = `indicator ${indicator_id}${time_trunc ? ` by the ${time_trunc}` : ''}`
    const usual = usualLag(answers, now)
    if (usual) {
      if (behind <= usual.allowed || behind > usual.usual + ENDED + 3 * step) return []
      if (isLeft(db, id, Math.max(7_200, usual.interval * 1.5))) return []
      return [
        {
          seriesId: id,
          what: `${name}: ${behindText(behind)}, usual lag ${usual.usual < 0 ? behindText(usual.usual) : lengthText(usual.usual)}`,
        },
      ]
    }
    const asked = floorToSecond(checked_at)
    const late = asked - last_at - step
    if (reach === null || reach < asked || late <= Math.max(OLD, 3 * step) || late > ENDED + 3 * step) return []
    return [{ seriesId: id, what: `${name}: the last value is ${formatUtc(last_at)}, asked ${formatUtc(asked)}` }]
  })
}
