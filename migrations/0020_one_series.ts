import { type Kysely, sql } from 'kysely'

/** What is held and what is missing of one series is told without looking at the others: their conditions reach the tables. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop view coverage`.execute(db)
  await sql`create view coverage as select h.series_id, h.kind, h.indicator_id, coalesce(
      (select t.name from indicator_text t where t.kind = h.kind and t.id = h.indicator_id and t.locale = 'es'),
      (select t.name from indicator_text t where t.kind = h.kind and t.id = h.indicator_id and t.name is not null order by t.locale limit 1)
    ) as indicator_name, h.geo_id, h.from_at, h.end_at as to_at,
    strftime('%Y-%m-%dT%H:%M:%S', h.from_at + (select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1), 'unixepoch') || printf('%s%02d:%02d', iif((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1) < 0, '-', '+'), abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1)) / 3600, abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1)) % 3600 / 60) as from_local,
    strftime('%Y-%m-%dT%H:%M:%S', h.end_at + (select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.end_at order by z.from_at desc limit 1), 'unixepoch') || printf('%s%02d:%02d', iif((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.end_at order by z.from_at desc limit 1) < 0, '-', '+'), abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.end_at order by z.from_at desc limit 1)) / 3600, abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.end_at order by z.from_at desc limit 1)) % 3600 / 60) as to_local,
    h.state, strftime('%Y-%m-%dT%H:%M:%SZ', h.oldest_at, 'unixepoch') as fetched_at
  from (
    select * from (
      select p.*, max(p.to_at) over island as end_at, min(p.fetched_at) over island as oldest_at
      from (
        select m.*, sum(m.fresh) over (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id order by from_at) as stretch
        from (
          select q.*, lag(q.to_at) over line is not q.from_at or lag(q.state) over line is not q.state as fresh
          from (
            select series_id, kind, indicator_id, time_trunc, time_zone, geo_id, from_at, border as to_at, iif(state = 'values', 'final', state) as state, fetched_at
            from (select c.*, case when c.state = 'doubt' or c.settled_s >= c.lookback_s then c.to_at
        else max(c.from_at, min(c.to_at, c.local_border - (select z.offset_s from time_zone_offset z where z.zone = c.time_zone and z.from_at <= c.local_border - (select z.offset_s from time_zone_offset z where z.zone = c.time_zone and z.from_at <= c.seen_at order by z.from_at desc limit 1) order by z.from_at desc limit 1))) end as border
      from (
        select d.*, case d.time_trunc when 'month' then unixepoch(d.day_s, 'unixepoch', 'start of month')
            when 'year' then unixepoch(d.day_s, 'unixepoch', 'start of year')
            else case when d.step_s between 601200 and 608400 and strftime('%H:%M:%S', d.last_s, 'unixepoch') = '00:00:00' then d.day_s - ((d.day_s - d.last_s) / 86400 % 7 + 7) % 7 * 86400
          when d.step_s between 2415600 and 2682000 and strftime('%d %H:%M:%S', d.last_s, 'unixepoch') = '01 00:00:00' then unixepoch(d.day_s, 'unixepoch', 'start of month')
          when d.step_s between 7772400 and 7952400 and strftime('%d %H:%M:%S', d.last_s, 'unixepoch') = '01 00:00:00' then unixepoch(d.day_s, 'unixepoch', 'start of month',
            '-' || (((strftime('%Y', d.day_s, 'unixepoch') * 12 + strftime('%m', d.day_s, 'unixepoch')) - (strftime('%Y', d.last_s, 'unixepoch') * 12 + strftime('%m', d.last_s, 'unixepoch'))) % 3 + 3) % 3 || ' months')
          when d.step_s between 31532400 and 31626000 and strftime('%m-%d %H:%M:%S', d.last_s, 'unixepoch') = '01-01 00:00:00' then unixepoch(d.day_s, 'unixepoch', 'start of year')
          else d.day_s end end as local_border
        from (
          select b.*, unixepoch(b.local_s, 'unixepoch', 'start of day') as day_s
          from (
            select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, v.geo_id, v.from_at, v.to_at, v.state,
              v.fetched_at, v.settled_s, coalesce(s.lookback_s, 172800) as lookback_s, v.fetched_at - coalesce(s.lookback_s, 172800) as seen_at,
              v.fetched_at - coalesce(s.lookback_s, 172800) + (select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= v.fetched_at - coalesce(s.lookback_s, 172800) order by z.from_at desc limit 1) as local_s,
              p.step_s, p.at + (select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= p.at order by z.from_at desc limit 1) as last_s
            from series s join _coverage v on v.series_id = s.id
            left join observation p on p.series_id = s.id and p.geo_id = (select min(g.geo_id) from series_geo g where g.series_id = s.id) and p.at = (
              select max(o.at) from observation o where o.series_id = s.id and o.geo_id = (select min(g.geo_id) from series_geo g where g.series_id = s.id))
          ) b
        ) d
      ) c) where from_at < border
            union all
            select series_id, kind, indicator_id, time_trunc, time_zone, geo_id, border, to_at, 'provisional', fetched_at
            from (select c.*, case when c.state = 'doubt' or c.settled_s >= c.lookback_s then c.to_at
        else max(c.from_at, min(c.to_at, c.local_border - (select z.offset_s from time_zone_offset z where z.zone = c.time_zone and z.from_at <= c.local_border - (select z.offset_s from time_zone_offset z where z.zone = c.time_zone and z.from_at <= c.seen_at order by z.from_at desc limit 1) order by z.from_at desc limit 1))) end as border
      from (
        select d.*, case d.time_trunc when 'month' then unixepoch(d.day_s, 'unixepoch', 'start of month')
            when 'year' then unixepoch(d.day_s, 'unixepoch', 'start of year')
            else case when d.step_s between 601200 and 608400 and strftime('%H:%M:%S', d.last_s, 'unixepoch') = '00:00:00' then d.day_s - ((d.day_s - d.last_s) / 86400 % 7 + 7) % 7 * 86400
          when d.step_s between 2415600 and 2682000 and strftime('%d %H:%M:%S', d.last_s, 'unixepoch') = '01 00:00:00' then unixepoch(d.day_s, 'unixepoch', 'start of month')
          when d.step_s between 7772400 and 7952400 and strftime('%d %H:%M:%S', d.last_s, 'unixepoch') = '01 00:00:00' then unixepoch(d.day_s, 'unixepoch', 'start of month',
            '-' || (((strftime('%Y', d.day_s, 'unixepoch') * 12 + strftime('%m', d.day_s, 'unixepoch')) - (strftime('%Y', d.last_s, 'unixepoch') * 12 + strftime('%m', d.last_s, 'unixepoch'))) % 3 + 3) % 3 || ' months')
          when d.step_s between 31532400 and 31626000 and strftime('%m-%d %H:%M:%S', d.last_s, 'unixepoch') = '01-01 00:00:00' then unixepoch(d.day_s, 'unixepoch', 'start of year')
          else d.day_s end end as local_border
        from (
          select b.*, unixepoch(b.local_s, 'unixepoch', 'start of day') as day_s
          from (
            select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, v.geo_id, v.from_at, v.to_at, v.state,
              v.fetched_at, v.settled_s, coalesce(s.lookback_s, 172800) as lookback_s, v.fetched_at - coalesce(s.lookback_s, 172800) as seen_at,
              v.fetched_at - coalesce(s.lookback_s, 172800) + (select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= v.fetched_at - coalesce(s.lookback_s, 172800) order by z.from_at desc limit 1) as local_s,
              p.step_s, p.at + (select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= p.at order by z.from_at desc limit 1) as last_s
            from series s join _coverage v on v.series_id = s.id
            left join observation p on p.series_id = s.id and p.geo_id = (select min(g.geo_id) from series_geo g where g.series_id = s.id) and p.at = (
              select max(o.at) from observation o where o.series_id = s.id and o.geo_id = (select min(g.geo_id) from series_geo g where g.series_id = s.id))
          ) b
        ) d
      ) c) where border < to_at
          ) q
          window line as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id order by from_at)
        ) m
      ) p
      window island as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id, stretch)
    ) where fresh
  ) h`.execute(db)
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
          join (select series_id, geo_id, state <> 'doubt' as single from _coverage where geo_id <> 0
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
          join (select series_id, geo_id, state <> 'doubt' as single from _coverage where geo_id <> 0
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
          join (select series_id, geo_id, state <> 'doubt' as single from _coverage where geo_id <> 0
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
  await sql`pragma user_version = 20`.execute(db)
}
