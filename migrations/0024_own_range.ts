import { type Kysely, sql } from 'kysely'

/** What a geo was requested for by itself counts to its range, also where none of it is believed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop view gaps`.execute(db)
  await sql`create view gaps as select h.series_id, h.kind, h.indicator_id, coalesce(
      (select t.name from indicator_text t where t.kind = h.kind and t.id = h.indicator_id and t.locale = 'es'),
      (select t.name from indicator_text t where t.kind = h.kind and t.id = h.indicator_id and t.name is not null order by t.locale limit 1)
    ) as indicator_name, h.time_trunc, h.geo_id, h.from_at, h.to_at,
      strftime('%Y-%m-%dT%H:%M:%S', h.from_at + (select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1), 'unixepoch') || printf('%s%02d:%02d', iif((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1) < 0, '-', '+'), abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1)) / 3600, abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1)) % 3600 / 60) as from_local,
      strftime('%Y-%m-%dT%H:%M:%S', h.to_at + (select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1), 'unixepoch') || printf('%s%02d:%02d', iif((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1) < 0, '-', '+'), abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1)) / 3600, abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1)) % 3600 / 60) as to_local,
      h.reason, h.step_s, h.missing, strftime('%Y-%m-%dT%H:%M:%SZ', h.next_at, 'unixepoch') as next_at
    from (
      select series_id, kind, indicator_id, time_trunc, time_zone, geo_id, from_at, end_at as to_at, reason, null as step_s, null as missing, null as next_at
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
          join (select series_id, geo_id, state <> 'doubt' or not exists (
              select 1 from _coverage l where l.series_id = k.series_id and l.geo_id = 0 and l.from_at <= k.from_at and l.to_at >= k.to_at
            ) as single from _coverage k where geo_id <> 0
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
          join (select series_id, geo_id, state <> 'doubt' or not exists (
              select 1 from _coverage l where l.series_id = k.series_id and l.geo_id = 0 and l.from_at <= k.from_at and l.to_at >= k.to_at
            ) as single from _coverage k where geo_id <> 0
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
          join (select series_id, geo_id, state <> 'doubt' or not exists (
              select 1 from _coverage l where l.series_id = k.series_id and l.geo_id = 0 and l.from_at <= k.from_at and l.to_at >= k.to_at
            ) as single from _coverage k where geo_id <> 0
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
  await sql`pragma user_version = 24`.execute(db)
}
