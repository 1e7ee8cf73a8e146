import { type Kysely, sql } from 'kysely'

/** Totals of days are kept, so that those of months and of all series need not read every value. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table _day (
    series_id integer not null,
    geo_id integer not null,
    month integer not null,
    day integer not null,
    count integer not null,
    hours real,
    min real,
    max real,
    sum real,
    energy real,
    first_s integer,
    last_s integer,
    missing integer not null,
    primary key (series_id, geo_id, month, day)
  ) strict, without rowid`.execute(db)
  const timelines = await sql<{ series: number; geo: number }>`select series_id as series, geo_id as geo from series_geo
    order by series_id, geo_id`.execute(db)
  for (const { series, geo } of timelines.rows) await fill(db, series, geo)
  await sql`drop view observations_daily`.execute(db)
  await sql`create view observations_daily as select s.id as series_id, s.kind, s.indicator_id,
    coalesce(
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id and t.locale = 'es'),
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id and t.name is not null order by t.locale limit 1)
    ) as indicator_name,
    s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc,
    (select i.magnitude from indicator i where i.kind = s.kind and i.id = s.indicator_id) as unit,
    d.geo_id,
    coalesce(
      (select t.name from geo_text t where t.id = d.geo_id and t.locale = 'es'),
      (select t.name from geo_text t where t.id = d.geo_id and t.name is not null order by t.locale limit 1)
    ) as geo_name,
    (select max(c.from_at, ((365 * ((d.month - 2) / 12) + (d.month - 2) / 48 - (d.month - 2) / 1200 + (d.month - 2) / 4800 + (153 * ((d.month - 2) % 12) + 2) / 5 + d.day - 719469) * 86400) - c.offset_s) from (
      select * from time_zone_offset n where n.zone = s.time_zone and n.from_at <= ((365 * ((d.month - 2) / 12) + (d.month - 2) / 48 - (d.month - 2) / 1200 + (d.month - 2) / 4800 + (153 * ((d.month - 2) % 12) + 2) / 5 + d.day - 719469) * 86400) + 86400 order by n.from_at desc limit 3
    ) c where ((365 * ((d.month - 2) / 12) + (d.month - 2) / 48 - (d.month - 2) / 1200 + (d.month - 2) / 4800 + (153 * ((d.month - 2) % 12) + 2) / 5 + d.day - 719469) * 86400) - c.offset_s < c.to_at order by c.from_at limit 1) as at,
    date(((365 * ((d.month - 2) / 12) + (d.month - 2) / 48 - (d.month - 2) / 1200 + (d.month - 2) / 4800 + (153 * ((d.month - 2) % 12) + 2) / 5 + d.day - 719469) * 86400), 'unixepoch') as local_date, d.count, d.min, d.max,
    coalesce(d.energy / d.hours, d.sum / d.count) as avg, d.sum, coalesce(d.energy, d.sum * d.hours / d.count) as energy, d.hours
  from series s
  cross join _day d on d.series_id = s.id`.execute(db)
  await sql`drop view observations_monthly`.execute(db)
  await sql`create view observations_monthly as select d.series_id, d.kind, d.indicator_id,
    coalesce(
      (select t.name from indicator_text t where t.kind = d.kind and t.id = d.indicator_id and t.locale = 'es'),
      (select t.name from indicator_text t where t.kind = d.kind and t.id = d.indicator_id and t.name is not null order by t.locale limit 1)
    ) as indicator_name,
    d.time_trunc, d.time_agg, d.geo_agg, d.geo_trunc,
    (select i.magnitude from indicator i where i.kind = d.kind and i.id = d.indicator_id) as unit,
    d.geo_id,
    coalesce(
      (select t.name from geo_text t where t.id = d.geo_id and t.locale = 'es'),
      (select t.name from geo_text t where t.id = d.geo_id and t.name is not null order by t.locale limit 1)
    ) as geo_name,
    (select max(c.from_at, ((365 * ((d.month - 2) / 12) + (d.month - 2) / 48 - (d.month - 2) / 1200 + (d.month - 2) / 4800 + (153 * ((d.month - 2) % 12) + 2) / 5 + 1 - 719469) * 86400) - c.offset_s) from (
      select * from time_zone_offset n where n.zone = d.time_zone and n.from_at <= ((365 * ((d.month - 2) / 12) + (d.month - 2) / 48 - (d.month - 2) / 1200 + (d.month - 2) / 4800 + (153 * ((d.month - 2) % 12) + 2) / 5 + 1 - 719469) * 86400) + 86400 order by n.from_at desc limit 3
    ) c where ((365 * ((d.month - 2) / 12) + (d.month - 2) / 48 - (d.month - 2) / 1200 + (d.month - 2) / 4800 + (153 * ((d.month - 2) % 12) + 2) / 5 + 1 - 719469) * 86400) - c.offset_s < c.to_at order by c.from_at limit 1) as at,
    strftime('%Y-%m', ((365 * ((d.month - 2) / 12) + (d.month - 2) / 48 - (d.month - 2) / 1200 + (d.month - 2) / 4800 + (153 * ((d.month - 2) % 12) + 2) / 5 + 1 - 719469) * 86400), 'unixepoch') as local_month, d.count, d.min, d.max, d.energy / d.hours as avg, d.sum, d.energy, d.hours
  from (
    select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, s.time_zone, d.geo_id, d.month,
      sum(d.count) as count, min(d.min) as min, max(d.max) as max, sum(d.sum) as sum, sum(coalesce(d.energy, d.sum * d.hours / d.count)) as energy, sum(d.hours) as hours
    from series s
    cross join _day d on d.series_id = s.id
    group by s.id, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, d.geo_id, d.month
  ) d`.execute(db)
  await sql`pragma user_version = 19`.execute(db)
}

/** The totals of the days of one series and geo, from their values. */
const fill = (db: Kysely<unknown>, series: number, geo: number) =>
  sql`insert into _day
  with clock as materialized (
      select z.zone, z.from_at, z.to_at, z.offset_s from series s join time_zone_offset z on z.zone = s.time_zone
      where s.id = ${series} and z.to_at + 172800 > (select min(at) from observation where series_id = ${series} and geo_id = ${geo})
        and z.from_at - 172800 <= (select max(at) from observation where series_id = ${series} and geo_id = ${geo})
    ), changed (day, from_at, to_at, seconds) as materialized (
      select d.day, min(max(z.from_at, d.day * 86400 - z.offset_s)), max(min(z.to_at, d.day * 86400 + 86400 - z.offset_s)), sum(min(z.to_at, d.day * 86400 + 86400 - z.offset_s) - max(z.from_at, d.day * 86400 - z.offset_s))
      from (
        select distinct c.zone, (c.from_at + c.offset_s + 719468 * 86400) / 86400 - 719468 + n.value as day from clock c, json_each('[-1, 0, 1]') n
      ) d
      join time_zone_offset z on z.zone = d.zone and z.from_at < (d.day + 2) * 86400 and z.from_at >= ifnull(
        (select max(p.from_at) from time_zone_offset p where p.zone = d.zone and p.from_at <= (d.day - 1) * 86400), z.from_at)
      where max(z.from_at, d.day * 86400 - z.offset_s) < min(z.to_at, d.day * 86400 + 86400 - z.offset_s)
      group by d.day
    ), total as (
      select (o.at + c.offset_s + 719468 * 86400) / 86400 - 719468 as day, c.offset_s, count(o.value) as count, min(o.value) as min, max(o.value) as max,
        sum(o.value) as sum, sum(o.value * o.step_s) / 3600.0 as energy, sum(iif(o.value is null, null, o.step_s)) as seconds,
        min(iif(o.value is null, null, o.step_s)) as least, max(iif(o.value is null, null, o.step_s)) as most,
        min(o.step_s) as shortest, min(iif(o.value is null, null, o.at)) as first_at, max(iif(o.value is null, null, o.at)) as last_at
      from clock c cross join observation o on o.series_id = ${series} and o.geo_id = ${geo} and o.at >= c.from_at and o.at < c.to_at
      group by 1
    )
    select ${series} as series_id, ${geo} as geo_id,
      strftime('%Y', t.day * 86400, 'unixepoch') * 12 + strftime('%m', t.day * 86400, 'unixepoch') - 1 as month,
      strftime('%d', t.day * 86400, 'unixepoch') + 0 as day,
      t.count, t.seconds / 3600.0 as hours, t.min, t.max, t.sum, iif(t.least = t.most, null, t.energy) as energy,
      t.first_at - coalesce(d.from_at, t.day * 86400 - t.offset_s) as first_s,
      coalesce(d.to_at, t.day * 86400 + 86400 - t.offset_s) - t.last_at as last_s,
      iif(t.shortest < coalesce(d.seconds, 86400),
        cast(max(0, round((coalesce(d.seconds, 86400) - coalesce(t.seconds, 0)) * 1.0 / t.shortest)) as integer), 0) as missing
    from total t left join changed d on d.day = t.day
`.execute(db)
