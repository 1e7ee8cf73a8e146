import { type Kysely, sql } from 'kysely'

/** Totals say when their day or month begins, and a run says when its job is due again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table _run add column schedule text`.execute(db)
  await sql`alter table _run add column time_zone text`.execute(db)
  await sql`drop view observations_daily`.execute(db)
  await sql`create view observations_daily as select d.series_id, d.kind, d.indicator_id,
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
    (select max(c.from_at, d.period * 86400 - c.offset_s) from (
      select * from time_zone_offset n where n.zone = d.time_zone and n.from_at <= d.period * 86400 + 86400 order by n.from_at desc limit 3
    ) c where d.period * 86400 - c.offset_s < c.to_at order by c.from_at limit 1) as at,
    date(d.period * 86400, 'unixepoch') as local_date, d.count, d.min, d.max, d.avg, d.sum, d.energy, d.hours
  from (
    select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, s.time_zone, o.geo_id,
      (o.at + z.offset_s) / 86400 as period,
      count(o.value) as count, min(o.value) as min, max(o.value) as max,
      sum(o.value * o.step_s) / sum(iif(o.value is null, null, o.step_s)) as avg, sum(o.value) as sum,
      sum(o.value * o.step_s) / 3600.0 as energy, sum(iif(o.value is null, null, o.step_s)) / 3600.0 as hours
    from series s
    cross join observation o on o.series_id = s.id
    join time_zone_offset z on z.zone = s.time_zone and z.from_at = (
      select max(c.from_at) from time_zone_offset c where c.zone = s.time_zone and c.from_at <= o.at
    )
    group by s.id, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, o.geo_id, (o.at + z.offset_s) / 86400
  ) d`.execute(db)
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
    (select max(c.from_at, unixepoch(d.period || '-01') - c.offset_s) from (
      select * from time_zone_offset n where n.zone = d.time_zone and n.from_at <= unixepoch(d.period || '-01') + 86400 order by n.from_at desc limit 3
    ) c where unixepoch(d.period || '-01') - c.offset_s < c.to_at order by c.from_at limit 1) as at,
    d.period as local_month, d.count, d.min, d.max, d.avg, d.sum, d.energy, d.hours
  from (
    select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, s.time_zone, o.geo_id,
      strftime('%Y-%m', o.at + z.offset_s, 'unixepoch') as period,
      count(o.value) as count, min(o.value) as min, max(o.value) as max,
      sum(o.value * o.step_s) / sum(iif(o.value is null, null, o.step_s)) as avg, sum(o.value) as sum,
      sum(o.value * o.step_s) / 3600.0 as energy, sum(iif(o.value is null, null, o.step_s)) / 3600.0 as hours
    from series s
    cross join observation o on o.series_id = s.id
    join time_zone_offset z on z.zone = s.time_zone and z.from_at = (
      select max(c.from_at) from time_zone_offset c where c.zone = s.time_zone and c.from_at <= o.at
    )
    group by s.id, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, o.geo_id, strftime('%Y-%m', o.at + z.offset_s, 'unixepoch')
  ) d`.execute(db)
  await sql`pragma user_version = 14`.execute(db)
}
