import { type Kysely, sql } from 'kysely'

/**
 * Coverage says what was answered and when; whether that is past revision is judged by who asks. What the service had not,
 * is remembered and asked again at growing distances.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table series add column lookback_s integer`.execute(db)
  await sql`alter table _fetch add column lookback_s integer`.execute(db)
  await sql`alter table _fetch add column last_at integer`.execute(db)
  await sql`alter table _coverage add column settled_s integer not null default 0`.execute(db)
  await sql`alter table _coverage add column since_at integer`.execute(db)
  await sql`alter table _quarantine add column dismissed text`.execute(db)
  await sql`alter table time_zone_offset add column zone_data text`.execute(db)
  await sql`create table _absent (
    series_id integer not null,
    geo_id integer not null,
    from_at integer not null,
    to_at integer not null,
    step_s integer,
    missing integer,
    since_at integer not null,
    checked_at integer not null,
    primary key (series_id, geo_id, from_at),
    foreign key (series_id) references series(id) deferrable initially deferred
  ) strict, without rowid`.execute(db)
  await sql`create index _absent_end on _absent (series_id, to_at)`.execute(db)
  await sql`create index _fetch_failed on _fetch (series_id, id) where outcome not in ('ok', 'empty', 'coarse')`.execute(
    db,
  )

  // Lookbacks were whole days and more: the least that fits what was settled when it was fetched.
  await sql`update _fetch set lookback_s = (unixepoch(finished_at) - settled_before) / 86400 * 86400
    where series_id is not null and from_at is not null and settled_before is not null and settled_before < unixepoch(finished_at)`.execute(
    db,
  )
  await sql`update series set lookback_s =
    (select max(f.lookback_s) from _fetch f where f.series_id = series.id and f.outcome in ('ok', 'empty'))`.execute(db)
  // What was final was past revision for the lookback of then; what was provisional though it was past revision was in doubt.
  await sql`update _coverage set settled_s = iif(state = 'provisional', fetched_at - to_at, max(fetched_at - to_at,
    coalesce((select s.lookback_s from series s where s.id = series_id), 172800)))`.execute(db)
  await sql`update _coverage set state = 'doubt', since_at = fetched_at where state = 'provisional'
    and settled_s >= coalesce((select s.lookback_s from series s where s.id = series_id), 172800)`.execute(db)
  await sql`update _coverage set state = 'values' where state in ('final', 'provisional')`.execute(db)

  await sql`drop view coverage`.execute(db)
  await sql`create view coverage as select h.series_id, h.kind, h.indicator_id, (select t.name from indicator_text t where t.kind = h.kind and t.id = h.indicator_id order by t.locale desc limit 1) as indicator_name, h.geo_id, h.from_at, h.to_at,
    strftime('%Y-%m-%dT%H:%M:%S', h.from_at + (select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1), 'unixepoch') || printf('%s%02d:%02d', iif((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1) < 0, '-', '+'), abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1)) / 3600, abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1)) % 3600 / 60) as from_local,
    strftime('%Y-%m-%dT%H:%M:%S', h.to_at + (select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1), 'unixepoch') || printf('%s%02d:%02d', iif((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1) < 0, '-', '+'), abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1)) / 3600, abs((select z.offset_s from time_zone_offset z where z.zone = h.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1)) % 3600 / 60) as to_local,
    h.state, strftime('%Y-%m-%dT%H:%M:%SZ', h.fetched_at, 'unixepoch') as fetched_at
  from (
    select series_id, kind, indicator_id, time_trunc, time_zone, geo_id, state, min(from_at) as from_at, max(to_at) as to_at, min(fetched_at) as fetched_at
    from (
      select p.*, sum(p.fresh) over (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id order by from_at) as stretch
      from (
        select q.*, lag(q.to_at) over line is not q.from_at or lag(q.state) over line is not q.state as fresh
        from (
          select series_id, kind, indicator_id, time_trunc, time_zone, geo_id, from_at, border as to_at, iif(state = 'values', 'final', state) as state, fetched_at
          from (select c.*, case when c.state = 'doubt' or c.settled_s >= c.lookback_s then c.to_at
        else max(c.from_at, min(c.to_at, c.local_border - (select z.offset_s from time_zone_offset z where z.zone = c.time_zone and z.from_at <= c.local_border - (select z.offset_s from time_zone_offset z where z.zone = c.time_zone and z.from_at <= c.seen_at order by z.from_at desc limit 1) order by z.from_at desc limit 1))) end as border
      from (
        select b.*, case b.time_trunc when 'month' then unixepoch(b.local_s, 'unixepoch', 'start of month')
            when 'year' then unixepoch(b.local_s, 'unixepoch', 'start of year')
            else unixepoch(b.local_s, 'unixepoch', 'start of day') end as local_border
        from (
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, v.geo_id, v.from_at, v.to_at, v.state,
            v.fetched_at, v.settled_s, coalesce(s.lookback_s, 172800) as lookback_s, v.fetched_at - coalesce(s.lookback_s, 172800) as seen_at,
            v.fetched_at - coalesce(s.lookback_s, 172800) + (select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= v.fetched_at - coalesce(s.lookback_s, 172800) order by z.from_at desc limit 1) as local_s
          from series s join _coverage v on v.series_id = s.id
        ) b
      ) c) where from_at < border
          union all
          select series_id, kind, indicator_id, time_trunc, time_zone, geo_id, border, to_at, 'provisional', fetched_at
          from (select c.*, case when c.state = 'doubt' or c.settled_s >= c.lookback_s then c.to_at
        else max(c.from_at, min(c.to_at, c.local_border - (select z.offset_s from time_zone_offset z where z.zone = c.time_zone and z.from_at <= c.local_border - (select z.offset_s from time_zone_offset z where z.zone = c.time_zone and z.from_at <= c.seen_at order by z.from_at desc limit 1) order by z.from_at desc limit 1))) end as border
      from (
        select b.*, case b.time_trunc when 'month' then unixepoch(b.local_s, 'unixepoch', 'start of month')
            when 'year' then unixepoch(b.local_s, 'unixepoch', 'start of year')
            else unixepoch(b.local_s, 'unixepoch', 'start of day') end as local_border
        from (
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, v.geo_id, v.from_at, v.to_at, v.state,
            v.fetched_at, v.settled_s, coalesce(s.lookback_s, 172800) as lookback_s, v.fetched_at - coalesce(s.lookback_s, 172800) as seen_at,
            v.fetched_at - coalesce(s.lookback_s, 172800) + (select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= v.fetched_at - coalesce(s.lookback_s, 172800) order by z.from_at desc limit 1) as local_s
          from series s join _coverage v on v.series_id = s.id
        ) b
      ) c) where border < to_at
        ) q
        window line as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id order by from_at)
      ) p
    )
    group by series_id, kind, indicator_id, time_trunc, time_zone, geo_id, stretch, state
  ) h`.execute(db)

  await sql`drop view gaps`.execute(db)
  await sql`create view gaps as select h.series_id, h.kind, h.indicator_id, (select t.name from indicator_text t where t.kind = h.kind and t.id = h.indicator_id order by t.locale desc limit 1) as indicator_name, h.time_trunc, h.geo_id, h.from_at, h.to_at,
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
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, 0, f.from_at, f.to_at, 0, 1, 1
          from series s cross join _fetch f on f.series_id = s.id where f.outcome not in ('ok', 'empty', 'coarse') and f.from_at is not null and f.geo_ids is null
          union all
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, g.value, f.from_at, f.to_at, 0, 1, 1
          from series s cross join _fetch f on f.series_id = s.id, json_each('[' || f.geo_ids || ']') g where f.outcome not in ('ok', 'empty', 'coarse') and f.from_at is not null
          union all
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, g.geo_id, c.from_at, c.to_at, 1, 0, 0
          from series s
          join (select series_id, geo_id from _coverage where geo_id <> 0
            union select f.series_id, g.value from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome not in ('ok', 'empty', 'coarse') and f.from_at is not null and f.series_id is not null) g on g.series_id = s.id
          join _coverage c on c.series_id = s.id and c.geo_id = 0
          union all
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, g.geo_id, f.from_at, f.to_at, 0, 1, 0
          from series s
          join (select series_id, geo_id from _coverage where geo_id <> 0
            union select f.series_id, g.value from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome not in ('ok', 'empty', 'coarse') and f.from_at is not null and f.series_id is not null) g on g.series_id = s.id
          cross join _fetch f on f.series_id = s.id where f.outcome not in ('ok', 'empty', 'coarse') and f.from_at is not null and f.geo_ids is null) b, json_each('[1, -1]') n
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
  await sql`create view freshness as select s.id as series_id, s.kind, s.indicator_id, (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id order by t.locale desc limit 1) as indicator_name, g.geo_id,
      (select t.name from geo_text t where t.id = g.geo_id order by t.locale desc limit 1) as geo_name,
      strftime('%Y-%m-%dT%H:%M:%SZ', a.at, 'unixepoch') as first_utc,
      strftime('%Y-%m-%dT%H:%M:%SZ', o.at, 'unixepoch') as last_utc, strftime('%Y-%m-%dT%H:%M:%S', o.at + z.offset_s, 'unixepoch') || printf('%s%02d:%02d', iif(z.offset_s < 0, '-', '+'), abs(z.offset_s) / 3600, abs(z.offset_s) % 3600 / 60) as last_local,
      (select f.finished_at from _fetch f where f.series_id = s.id and f.outcome in ('ok', 'empty')
         and (f.geo_ids is null or ',' || f.geo_ids || ',' like '%,' || g.geo_id || ',%')
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
  await sql`pragma user_version = 5`.execute(db)
}
