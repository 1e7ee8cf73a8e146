import { type Kysely, sql } from 'kysely'

/** Three views say what they say in words that PostgreSQL knows too; they answer as before. */
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
      (select min(m.month) from _day m where m.series_id = s.id and m.geo_id = g.geo_id) as first_month,
      (select max(m.month) from _day m where m.series_id = s.id and m.geo_id = g.geo_id) as last_month
    from series s
    cross join series_geo g on g.series_id = s.id
    group by s.id, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, g.geo_id
  ) p
  cross join clock c on c.zone = p.time_zone and c.end_month >= p.first_month and c.first_month <= p.last_month
  cross join _day d on d.series_id = p.series_id and d.geo_id = p.geo_id
    and (d.month, d.day) >= (c.first_month, c.first_day) and (d.month, d.day) < (c.end_month, c.end_day)`.execute(db)
  await sql`drop view gaps`.execute(db)
  await sql`create view gaps as select h.series_id, h.kind, h.indicator_id, coalesce(
      (select t.name from indicator_text t where t.kind = h.kind and t.id = h.indicator_id and t.locale = 'es'),
      (select t.name from indicator_text t where t.kind = h.kind and t.id = h.indicator_id and t.name is not null order by t.locale limit 1)
    ) as indicator_name, h.time_trunc, h.geo_id, h.from_at, h.to_at,
      strftime('%Y-%m-%dT%H:%M:%S', h.from_at + (select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1), 'unixepoch') || printf('%s%02d:%02d', iif((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1) < 0, '-', '+'), abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1)) / 3600, abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1)) % 3600 / 60) as from_local,
      strftime('%Y-%m-%dT%H:%M:%S', h.to_at + (select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1), 'unixepoch') || printf('%s%02d:%02d', iif((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1) < 0, '-', '+'), abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1)) / 3600, abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1)) % 3600 / 60) as to_local,
      h.reason, h.step_s, h.missing, strftime('%Y-%m-%dT%H:%M:%SZ', h.next_at, 'unixepoch') as next_at
    from (
      select series_id, kind, indicator_id, time_trunc, time_zone, geo_id, from_at, end_at as to_at, reason, cast(null as integer) as step_s, cast(null as integer) as missing, cast(null as integer) as next_at
      from (select * from (
      select p.*, max(p.to_at) over island as end_at, min(p.fetched_at) over island as oldest_at
      from (
        select m.*, sum(m.fresh) over (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id order by from_at) as stretch
        from (
          select q.*, lag(q.to_at) over line is not q.from_at or lag(q.reason) over line is not q.reason as fresh
          from (
            select series_id, kind, indicator_id, time_trunc, time_zone, geo_id, from_at, to_at, iif(failing > 0, 'failed', 'unasked') as reason, null as fetched_at
            from (
              select e.*, lead(e.from_at) over line as to_at, sum(e.covers) over line as covering, sum(e.fails) over line as failing,
                min(e.first_at) over whole as range_from, max(e.last_at) over whole as range_to
              from (
                select series_id, kind, indicator_id, time_trunc, time_zone, geo_id, iif(n.value = 1, b.from_at, b.to_at) as from_at, b.covered * n.value as covers, b.failed * n.value as fails,
                  iif(b.own, b.from_at, null) as first_at, iif(b.own, b.to_at, null) as last_at
                from (select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, c.geo_id, c.from_at, c.to_at, 1 as covered, 0 as failed, 1 as own
          from series s join _coverage c on c.series_id = s.id
          union all
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, g.geo_id, c.from_at, c.to_at, 1, 0, g.single
          from series s
          join (select series_id, geo_id, iif(state <> 'doubt' or not exists (
              select 1 from _coverage l where l.series_id = k.series_id and l.geo_id = 0 and l.from_at <= k.from_at and l.to_at >= k.to_at
            ), 1, 0) as single from _coverage k where geo_id <> 0
            union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped') and f.from_at is not null and f.series_id is not null
            union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome = 'coarse' and f.from_at is not null and f.series_id is not null) g on g.series_id = s.id
          join _coverage c on c.series_id = s.id and c.geo_id = 0
          union all
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, 0, f.from_at, f.to_at, 0, 1, 1
          from series s cross join _fetch f on f.series_id = s.id where f.outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped') and f.from_at is not null and f.geo_ids is null
          union all
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, g.value, f.from_at, f.to_at, 0, 1, 1
          from series s cross join _fetch f on f.series_id = s.id, json_each('[' || f.geo_ids || ']') g where f.outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped') and f.from_at is not null
          union all
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, g.geo_id, f.from_at, f.to_at, 0, 1, g.single
          from series s
          join (select series_id, geo_id, iif(state <> 'doubt' or not exists (
              select 1 from _coverage l where l.series_id = k.series_id and l.geo_id = 0 and l.from_at <= k.from_at and l.to_at >= k.to_at
            ), 1, 0) as single from _coverage k where geo_id <> 0
            union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped') and f.from_at is not null and f.series_id is not null
            union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome = 'coarse' and f.from_at is not null and f.series_id is not null) g on g.series_id = s.id
          cross join _fetch f on f.series_id = s.id where f.outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped') and f.from_at is not null and f.geo_ids is null
          union all
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, 0, f.from_at, f.to_at, 0, 1, 1
          from series s cross join _fetch f on f.series_id = s.id where f.outcome = 'coarse' and f.from_at is not null and f.geo_ids is null
          union all
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, g.value, f.from_at, f.to_at, 0, 1, 1
          from series s cross join _fetch f on f.series_id = s.id, json_each('[' || f.geo_ids || ']') g where f.outcome = 'coarse' and f.from_at is not null
          union all
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, g.geo_id, f.from_at, f.to_at, 0, 1, g.single
          from series s
          join (select series_id, geo_id, iif(state <> 'doubt' or not exists (
              select 1 from _coverage l where l.series_id = k.series_id and l.geo_id = 0 and l.from_at <= k.from_at and l.to_at >= k.to_at
            ), 1, 0) as single from _coverage k where geo_id <> 0
            union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped') and f.from_at is not null and f.series_id is not null
            union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome = 'coarse' and f.from_at is not null and f.series_id is not null) g on g.series_id = s.id
          cross join _fetch f on f.series_id = s.id where f.outcome = 'coarse' and f.from_at is not null and f.geo_ids is null) b, json_each('[1, -1]') n
              ) e
              window line as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id order by e.from_at), whole as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id)
            )
            where covering = 0 and from_at < to_at and to_at > range_from and from_at < range_to
          ) q
          window line as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id order by from_at)
        ) m
      ) p
      window island as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id, stretch)
    ) where fresh)
      union all
      select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, c.geo_id, c.from_at, c.to_at, 'doubt', null, null, (select c.fetched_at + iif(c.fetched_at <= c.since_at, 3600, min(15724800, max(86400, c.fetched_at - c.since_at))) from _wanted w
        where w.series_id = c.series_id and w.from_at < c.to_at and w.to_at > c.from_at
          and (w.geo_ids is null or c.geo_id = 0 or ',' || w.geo_ids || ',' like '%,' || c.geo_id || ',%') limit 1)
      from series s join _coverage c on c.series_id = s.id where c.state = 'doubt'
      union all
      select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, a.geo_id, a.from_at, a.to_at, 'absent', a.step_s, a.missing, (select iif(a.checked_at - a.since_at + 86400 > 15724800, null, 2 * a.checked_at - a.since_at + 86400) from _wanted w
        where w.series_id = a.series_id and w.from_at < a.to_at and w.to_at > a.from_at
          and (w.geo_ids is null or a.geo_id = 0 or ',' || w.geo_ids || ',' like '%,' || a.geo_id || ',%') limit 1)
      from series s join _absent a on a.series_id = s.id
    ) h`.execute(db)
  await sql`drop view freshness`.execute(db)
  await sql`create view freshness as select s.id as series_id, s.kind, s.indicator_id, coalesce(
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id and t.locale = 'es'),
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id and t.name is not null order by t.locale limit 1)
    ) as indicator_name, g.geo_id,
      coalesce(
      (select t.name from geo_text t where t.id = g.geo_id and t.locale = 'es'),
      (select t.name from geo_text t where t.id = g.geo_id and t.name is not null order by t.locale limit 1)
    ) as geo_name,
      strftime('%Y-%m-%dT%H:%M:%SZ', a.at, 'unixepoch') as first_utc,
      strftime('%Y-%m-%dT%H:%M:%SZ', o.at, 'unixepoch') as last_utc, strftime('%Y-%m-%dT%H:%M:%S', o.at + z.offset_s, 'unixepoch') || printf('%s%02d:%02d', iif(z.offset_s < 0, '-', '+'), abs(z.offset_s) / 3600, abs(z.offset_s) % 3600 / 60) as last_local,
      (select f.finished_at from _fetch f where f.series_id = s.id and f.outcome in ('ok', 'empty')
         and coalesce(',' || coalesce(f.geo_ids, iif(f.from_at is null and s.geo_agg is null,
           (select group_concat(q.value) from json_each(f.params, '$.geo_ids') q), null)) || ',' like '%,' || g.geo_id || ',%', 1 = 1)
       order by f.finished_at desc limit 1) as checked_at
    from series s
    cross join series_geo g on g.series_id = s.id
    cross join observation a on a.series_id = g.series_id and a.geo_id = g.geo_id and a.at = (
      select min(l.at) from observation l where l.series_id = g.series_id and l.geo_id = g.geo_id
    )
    cross join observation o on o.series_id = g.series_id and o.geo_id = g.geo_id and o.at = (
      select max(l.at) from observation l where l.series_id = g.series_id and l.geo_id = g.geo_id
    )
    cross join time_zone_offset z on z.zone = s.time_zone and z.from_at = (
      select max(c.from_at) from time_zone_offset c where c.zone = s.time_zone and c.from_at <= o.at
    )`.execute(db)
  await sql`pragma user_version = 25`.execute(db)
}
