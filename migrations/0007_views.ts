import { type Kysely, sql } from 'kysely'

/**
 * Views on values say which series a row is of: one indicator may be several, as it came and grouped by the service, and
 * without its aggregation `where indicator_id = …` mixed them. Rows that are instants tell them as epoch seconds, too.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop view observations`.execute(db)
  await sql`create view observations as
  select s.id as series_id, s.kind, s.indicator_id,
    coalesce(
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id and t.locale = 'es'),
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id and t.name is not null order by t.locale limit 1)
    ) as indicator_name,
    s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc,
    (select i.magnitude from indicator i where i.kind = s.kind and i.id = s.indicator_id) as unit,
    o.geo_id,
    coalesce(
      (select t.name from geo_text t where t.id = o.geo_id and t.locale = 'es'),
      (select t.name from geo_text t where t.id = o.geo_id and t.name is not null order by t.locale limit 1)
    ) as geo_name,
    o.at, strftime('%Y-%m-%dT%H:%M:%SZ', o.at, 'unixepoch') as at_utc,
    strftime('%Y-%m-%dT%H:%M:%S', o.at + z.offset_s, 'unixepoch') || printf('%s%02d:%02d', iif(z.offset_s < 0, '-', '+'), abs(z.offset_s) / 3600, abs(z.offset_s) % 3600 / 60) as at_local,
    date(o.at + z.offset_s, 'unixepoch') as local_date,
    o.step_s, o.value, f.finished_at as fetched_at
  from series s
  cross join observation o on o.series_id = s.id
  left join _fetch f on f.id = o.fetch_id
  join time_zone_offset z on z.zone = s.time_zone and z.from_at = (
      select max(c.from_at) from time_zone_offset c where c.zone = s.time_zone and c.from_at <= o.at
    )`.execute(db)

  await sql`drop view observation_history`.execute(db)
  await sql`create view observation_history as
  select s.id as series_id, s.kind, s.indicator_id,
    coalesce(
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id and t.locale = 'es'),
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id and t.name is not null order by t.locale limit 1)
    ) as indicator_name,
    s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc,
    (select i.magnitude from indicator i where i.kind = s.kind and i.id = s.indicator_id) as unit,
    o.geo_id,
    coalesce(
      (select t.name from geo_text t where t.id = o.geo_id and t.locale = 'es'),
      (select t.name from geo_text t where t.id = o.geo_id and t.name is not null order by t.locale limit 1)
    ) as geo_name,
    o.at, strftime('%Y-%m-%dT%H:%M:%SZ', o.at, 'unixepoch') as at_utc,
    strftime('%Y-%m-%dT%H:%M:%S', o.at + z.offset_s, 'unixepoch') || printf('%s%02d:%02d', iif(z.offset_s < 0, '-', '+'), abs(z.offset_s) / 3600, abs(z.offset_s) % 3600 / 60) as at_local,
    date(o.at + z.offset_s, 'unixepoch') as local_date,
    o.step_s, o.value, f.finished_at as fetched_at, f.finished_at as valid_from,
    (select n.finished_at from _fetch n where n.id = null) as valid_to
  from series s
  cross join observation o on o.series_id = s.id
  left join _fetch f on f.id = o.fetch_id
  join time_zone_offset z on z.zone = s.time_zone and z.from_at = (
      select max(c.from_at) from time_zone_offset c where c.zone = s.time_zone and c.from_at <= o.at
    )
  union all
  select s.id as series_id, s.kind, s.indicator_id,
    coalesce(
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id and t.locale = 'es'),
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id and t.name is not null order by t.locale limit 1)
    ) as indicator_name,
    s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc,
    (select i.magnitude from indicator i where i.kind = s.kind and i.id = s.indicator_id) as unit,
    o.geo_id,
    coalesce(
      (select t.name from geo_text t where t.id = o.geo_id and t.locale = 'es'),
      (select t.name from geo_text t where t.id = o.geo_id and t.name is not null order by t.locale limit 1)
    ) as geo_name,
    o.at, strftime('%Y-%m-%dT%H:%M:%SZ', o.at, 'unixepoch') as at_utc,
    strftime('%Y-%m-%dT%H:%M:%S', o.at + z.offset_s, 'unixepoch') || printf('%s%02d:%02d', iif(z.offset_s < 0, '-', '+'), abs(z.offset_s) / 3600, abs(z.offset_s) % 3600 / 60) as at_local,
    date(o.at + z.offset_s, 'unixepoch') as local_date,
    o.step_s, o.value, f.finished_at as fetched_at, f.finished_at as valid_from,
    (select n.finished_at from _fetch n where n.id = o.superseded_by) as valid_to
  from series s
  cross join observation_revision o on o.series_id = s.id
  left join _fetch f on f.id = o.fetch_id
  join time_zone_offset z on z.zone = s.time_zone and z.from_at = (
      select max(c.from_at) from time_zone_offset c where c.zone = s.time_zone and c.from_at <= o.at
    )`.execute(db)

  await sql`drop view observations_daily`.execute(db)
  await sql`create view observations_daily as
  select d.series_id, d.kind, d.indicator_id,
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
    date(d.period * 86400, 'unixepoch') as local_date, d.count, d.min, d.max, d.avg, d.sum, d.energy, d.hours
  from (
    select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, o.geo_id,
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
  await sql`create view observations_monthly as
  select d.series_id, d.kind, d.indicator_id,
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
    d.period as local_month, d.count, d.min, d.max, d.avg, d.sum, d.energy, d.hours
  from (
    select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, o.geo_id,
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

  await sql`drop view latest`.execute(db)
  await sql`create view latest as
  select s.id as series_id, s.kind, s.indicator_id,
    coalesce(
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id and t.locale = 'es'),
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id and t.name is not null order by t.locale limit 1)
    ) as indicator_name,
    s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc,
    (select i.magnitude from indicator i where i.kind = s.kind and i.id = s.indicator_id) as unit,
    o.geo_id,
    coalesce(
      (select t.name from geo_text t where t.id = o.geo_id and t.locale = 'es'),
      (select t.name from geo_text t where t.id = o.geo_id and t.name is not null order by t.locale limit 1)
    ) as geo_name,
    o.at, strftime('%Y-%m-%dT%H:%M:%SZ', o.at, 'unixepoch') as at_utc,
    strftime('%Y-%m-%dT%H:%M:%S', o.at + z.offset_s, 'unixepoch') || printf('%s%02d:%02d', iif(z.offset_s < 0, '-', '+'), abs(z.offset_s) / 3600, abs(z.offset_s) % 3600 / 60) as at_local,
    date(o.at + z.offset_s, 'unixepoch') as local_date,
    o.step_s, o.value, f.finished_at as fetched_at
  from series s
  cross join series_geo g on g.series_id = s.id
  cross join observation o on o.series_id = g.series_id and o.geo_id = g.geo_id and o.at = (
    select max(l.at) from observation l where l.series_id = g.series_id and l.geo_id = g.geo_id
  )
  left join _fetch f on f.id = o.fetch_id
  join time_zone_offset z on z.zone = s.time_zone and z.from_at = (
      select max(c.from_at) from time_zone_offset c where c.zone = s.time_zone and c.from_at <= o.at
    )`.execute(db)

  await sql`pragma user_version = 7`.execute(db)
}
