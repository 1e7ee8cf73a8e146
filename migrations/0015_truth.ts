import { type Kysely, sql } from 'kysely'

/**
 * Holes reach as far as a geo was asked for, with all geos or by itself, and what was put aside as coarse is told; what a
 * coarse answer leaves in doubt is recorded, so that a replay arrives at the same.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table _fetch add column doubts text`.execute(db)
  await sql`create index _fetch_coarse on _fetch (series_id, id) where outcome = 'coarse'`.execute(db)
  await sql`drop view gaps`.execute(db)
  await sql`create view gaps as select h.series_id, h.kind, h.indicator_id, coalesce(
      (select t.name from indicator_text t where t.kind = h.kind and t.id = h.indicator_id and t.locale = 'es'),
      (select t.name from indicator_text t where t.kind = h.kind and t.id = h.indicator_id and t.name is not null order by t.locale limit 1)
    ) as indicator_name, h.time_trunc, h.geo_id, h.from_at, h.to_at,
      strftime('%Y-%m-%dT%H:%M:%S', h.from_at + (select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1), 'unixepoch') || printf('%s%02d:%02d', iif((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1) < 0, '-', '+'), abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1)) / 3600, abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1)) % 3600 / 60) as from_local,
      strftime('%Y-%m-%dT%H:%M:%S', h.to_at + (select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1), 'unixepoch') || printf('%s%02d:%02d', iif((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1) < 0, '-', '+'), abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1)) / 3600, abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1)) % 3600 / 60) as to_local,
      h.reason, h.step_s, h.missing, strftime('%Y-%m-%dT%H:%M:%SZ', h.next_at, 'unixepoch') as next_at
    from (
      select series_id, kind, indicator_id, time_trunc, time_zone, geo_id, from_at, to_at, reason, null as step_s, null as missing, null as next_at
      from (select series_id, kind, indicator_id, time_trunc, time_zone, geo_id, min(from_at) as from_at, max(to_at) as to_at, reason
    from (
      select p.*, sum(p.fresh) over (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id order by from_at) as stretch
      from (
        select q.*, lag(q.to_at) over line is not q.from_at or lag(q.reason) over line is not q.reason as fresh
        from (
          select series_id, kind, indicator_id, time_trunc, time_zone, geo_id, from_at, to_at, iif(failing > 0, 'failed', 'unasked') as reason
          from (
            select e.*, lead(e.from_at) over line as to_at, sum(e.covers) over line as covering, sum(e.fails) over line as failing,
              min(e.first_at) over whole as range_from, max(e.last_at) over whole as range_to
            from (
              select series_id, kind, indicator_id, time_trunc, time_zone, geo_id, at as from_at, sum(covers) as covers, sum(fails) as fails, min(first_at) as first_at, max(last_at) as last_at
              from (
                select b.*, iif(n.value = 1, b.from_at, b.to_at) as at, b.covered * n.value as covers, b.failed * n.value as fails,
                  iif(b.own, b.from_at, null) as first_at, iif(b.own, b.to_at, null) as last_at
                from (select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, c.geo_id, c.from_at, c.to_at, 1 as covered, 0 as failed, 1 as own
          from series s join _coverage c on c.series_id = s.id
          union all
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, g.geo_id, c.from_at, c.to_at, 1, 0, g.single
          from series s
          join (select series_id, geo_id, max(single) as single from (
              select series_id, geo_id, state <> 'doubt' as single from _coverage where geo_id <> 0
              union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped') and f.from_at is not null and f.series_id is not null
              union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome = 'coarse' and f.from_at is not null and f.series_id is not null
            ) group by series_id, geo_id) g on g.series_id = s.id
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
          join (select series_id, geo_id, max(single) as single from (
              select series_id, geo_id, state <> 'doubt' as single from _coverage where geo_id <> 0
              union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped') and f.from_at is not null and f.series_id is not null
              union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome = 'coarse' and f.from_at is not null and f.series_id is not null
            ) group by series_id, geo_id) g on g.series_id = s.id
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
          join (select series_id, geo_id, max(single) as single from (
              select series_id, geo_id, state <> 'doubt' as single from _coverage where geo_id <> 0
              union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped') and f.from_at is not null and f.series_id is not null
              union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome = 'coarse' and f.from_at is not null and f.series_id is not null
            ) group by series_id, geo_id) g on g.series_id = s.id
          cross join _fetch f on f.series_id = s.id where f.outcome = 'coarse' and f.from_at is not null and f.geo_ids is null) b, json_each('[1, -1]') n
              )
              group by series_id, kind, indicator_id, time_trunc, time_zone, geo_id, at
            ) e
            window line as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id order by e.from_at), whole as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id)
          )
          where covering = 0 and to_at > range_from and from_at < range_to
        ) q
        window line as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id order by from_at)
      ) p
    )
    group by series_id, kind, indicator_id, time_trunc, time_zone, geo_id, stretch, reason)
      union all
      select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, c.geo_id, c.from_at, c.to_at, 'doubt', null, null, c.fetched_at + iif(c.fetched_at <= c.since_at, 3600, min(15724800, max(86400, c.fetched_at - c.since_at)))
      from series s join _coverage c on c.series_id = s.id where c.state = 'doubt'
      union all
      select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, a.geo_id, a.from_at, a.to_at, 'absent', a.step_s, a.missing, iif(a.checked_at - a.since_at + 86400 > 15724800, null, 2 * a.checked_at - a.since_at + 86400)
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
           (select group_concat(q.value) from json_each(f.params, '$.geo_ids') q), null)) || ',' like '%,' || g.geo_id || ',%', 1)
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
  await sql`pragma user_version = 15`.execute(db)
}
