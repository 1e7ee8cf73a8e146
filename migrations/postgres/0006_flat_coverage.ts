import { type Kysely, sql } from 'kysely'

/** The view `coverage` as in a file, where it nests less deep. It answers as before. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create or replace view coverage as with judged as not materialized (select c.*, case when c.state = 'doubt' or c.settled_s >= c.lookback_s then c.to_at
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
      ) c)
  select h.series_id, h.kind, h.indicator_id, coalesce(
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
          select q.*, lag(q.to_at) over line is distinct from q.from_at or lag(q.state) over line is distinct from q.state as fresh
          from (
            select series_id, kind, indicator_id, time_trunc, time_zone, geo_id, from_at, border as to_at, iif(state = 'values', 'final', state) as state, fetched_at
            from judged where from_at < border
            union all
            select series_id, kind, indicator_id, time_trunc, time_zone, geo_id, border, to_at, 'provisional', fetched_at
            from judged where border < to_at
          ) q
          window line as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id order by from_at)
        ) m
      ) p
      window island as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id, stretch)
    ) as unnamed_1 where fresh
  ) h`.execute(db)
}
