import { type Kysely, sql } from 'kysely'

/** Days are read with their names looked up once a series and geo, and their clock once a change of it: half the time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop view observations_daily`.execute(db)
  await sql`create view observations_daily as with clock as materialized (
    select zone, from_at, offset_s, ifnull(strftime('%Y', first_s, 'unixepoch') * 12 + strftime('%m', first_s, 'unixepoch') - 1, 120000) as first_month, ifnull(strftime('%d', first_s, 'unixepoch') + 0, 0) as first_day,
      ifnull(strftime('%Y', end_s, 'unixepoch') * 12 + strftime('%m', end_s, 'unixepoch') - 1, 120000) as end_month, ifnull(strftime('%d', end_s, 'unixepoch') + 0, 0) as end_day
    from (
      select zone, from_at, offset_s, from_at + lag(offset_s, 1, offset_s) over (partition by zone order by from_at) + 86399 as first_s,
        to_at + offset_s + 86399 as end_s
      from time_zone_offset
    )
  )
  select p.series_id, p.kind, p.indicator_id, p.indicator_name, p.time_trunc, p.time_agg, p.geo_agg, p.geo_trunc, p.unit,
    p.geo_id, p.geo_name, max(c.from_at, ((365 * ((d.month - 2) / 12) + (d.month - 2) / 48 - (d.month - 2) / 1200 + (d.month - 2) / 4800 + (153 * ((d.month - 2) % 12) + 2) / 5 + d.day - 719469) * 86400) - c.offset_s) as at,
    date(((365 * ((d.month - 2) / 12) + (d.month - 2) / 48 - (d.month - 2) / 1200 + (d.month - 2) / 4800 + (153 * ((d.month - 2) % 12) + 2) / 5 + d.day - 719469) * 86400), 'unixepoch') as local_date, d.count, d.min, d.max,
    coalesce(d.energy / d.hours, d.sum / d.count) as avg, d.sum, coalesce(d.energy, d.sum * d.hours / d.count) as energy, d.hours
  from (
    select s.id as series_id, s.kind, s.indicator_id,
    coalesce(
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id and t.locale = 'es'),
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id and t.name is not null order by t.locale limit 1)
    ) as indicator_name,
    s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc,
    (select i.magnitude from indicator i where i.kind = s.kind and i.id = s.indicator_id) as unit, s.time_zone, g.geo_id,
      coalesce(
      (select t.name from geo_text t where t.id = g.geo_id and t.locale = 'es'),
      (select t.name from geo_text t where t.id = g.geo_id and t.name is not null order by t.locale limit 1)
    ) as geo_name,
      (select min(m.month) from _day m where m.series_id = g.series_id and m.geo_id = g.geo_id) as first_month,
      (select max(m.month) from _day m where m.series_id = g.series_id and m.geo_id = g.geo_id) as last_month
    from series s
    cross join series_geo g on g.series_id = s.id
    group by s.id, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, g.geo_id
  ) p
  cross join clock c on c.zone = p.time_zone and c.end_month >= p.first_month and c.first_month <= p.last_month
  cross join _day d on d.series_id = p.series_id and d.geo_id = p.geo_id
    and (d.month, d.day) >= (c.first_month, c.first_day) and (d.month, d.day) < (c.end_month, c.end_day)`.execute(db)
  await sql`pragma user_version = 22`.execute(db)
}
