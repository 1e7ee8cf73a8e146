import { type Kysely, sql } from 'kysely'

/** The first schema: series, content, archives, widgets and bookkeeping, with their views. Frozen; later changes are later files. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table geo (
    id integer primary key,
    level text
  ) strict`.execute(db)

  await sql`create table geo_text (
    id integer not null,
    locale text not null,
    name text not null,
    primary key (id, locale),
    foreign key (id) references geo(id) deferrable initially deferred
  ) strict, without rowid`.execute(db)

  await sql`create table time_zone_offset (
    zone text not null,
    from_at integer not null,
    to_at integer not null,
    offset_s integer not null,
    primary key (zone, from_at)
  ) strict, without rowid`.execute(db)

  await sql`create table vocabulary (
    id integer primary key
  ) strict`.execute(db)

  await sql`create table vocabulary_text (
    id integer not null,
    locale text not null,
    name text not null,
    primary key (id, locale),
    foreign key (id) references vocabulary(id) deferrable initially deferred
  ) strict, without rowid`.execute(db)

  await sql`create table taxonomy_term (
    id integer primary key,
    vocabulary_id integer
  ) strict`.execute(db)

  await sql`create table taxonomy_term_text (
    id integer not null,
    locale text not null,
    name text not null,
    primary key (id, locale),
    foreign key (id) references taxonomy_term(id) deferrable initially deferred
  ) strict, without rowid`.execute(db)

  await sql`create table indicator (
    kind text not null,
    id integer not null,
    step_type text,
    composited integer,
    disaggregated integer,
    magnitude_id integer,
    magnitude text,
    first_seen_at text not null,
    last_seen_at text,
    withdrawn_at text,
    payload text,
    primary key (kind, id)
  ) strict`.execute(db)

  await sql`create table indicator_revision (
    kind text not null,
    id integer not null,
    locale text not null,
    fetch_id integer not null,
    name text,
    short_name text,
    description text,
    superseded_by integer not null,
    primary key (kind, id, locale, fetch_id)
  ) strict`.execute(db)

  await sql`create table indicator_text (
    kind text not null,
    id integer not null,
    locale text not null,
    name text,
    short_name text,
    description text,
    description_text text,
    last_seen_at text,
    withdrawn_at text,
    fetch_id integer not null,
    primary key (kind, id, locale),
    foreign key (kind, id) references indicator(kind, id) deferrable initially deferred
  ) strict`.execute(db)

  await sql`create table _coverage (
    series_id integer not null,
    geo_id integer not null,
    from_at integer not null,
    to_at integer not null,
    state text not null,
    fetched_at integer not null,
    primary key (series_id, geo_id, from_at),
    foreign key (series_id) references series(id) deferrable initially deferred
  ) strict, without rowid`.execute(db)

  await sql`create table _resolution (
    series_id integer not null,
    from_at integer not null,
    step_s integer not null,
    primary key (series_id, from_at),
    foreign key (series_id) references series(id) deferrable initially deferred
  ) strict, without rowid`.execute(db)

  await sql`create table observation (
    series_id integer not null,
    geo_id integer not null,
    at integer not null,
    value real,
    step_s integer not null,
    fetch_id integer not null,
    primary key (series_id, geo_id, at)
  ) strict, without rowid`.execute(db)

  await sql`create table observation_revision (
    series_id integer not null,
    geo_id integer not null,
    at integer not null,
    fetch_id integer not null,
    value real,
    step_s integer not null,
    superseded_by integer not null,
    primary key (series_id, geo_id, at, fetch_id)
  ) strict, without rowid`.execute(db)

  await sql`create table series (
    id integer primary key,
    kind text not null,
    indicator_id integer not null,
    time_trunc text,
    time_agg text,
    geo_agg text,
    geo_trunc text,
    geo_ids text,
    time_zone text not null,
    window_s integer,
    created_at text not null,
    foreign key (kind, indicator_id) references indicator(kind, id) deferrable initially deferred
  ) strict`.execute(db)

  await sql`create table series_geo (
    series_id integer not null,
    geo_id integer not null,
    primary key (series_id, geo_id),
    foreign key (series_id) references series(id) deferrable initially deferred
  ) strict, without rowid`.execute(db)

  await sql`create table content (
    kind text not null,
    id integer not null,
    published_status text,
    published_at text,
    updated_at text,
    expires_at text,
    created_at text,
    sticky integer,
    first_seen_at text not null,
    last_seen_at text,
    withdrawn_at text,
    primary key (kind, id)
  ) strict`.execute(db)

  await sql`create table content_media (
    kind text not null,
    id integer not null,
    locale text not null,
    media_id integer not null,
    title text,
    media_type text,
    file_name text,
    content_type text,
    file_size integer,
    url text,
    payload text,
    primary key (kind, id, locale, media_id),
    foreign key (kind, id) references content(kind, id) deferrable initially deferred
  ) strict`.execute(db)

  await sql`create table content_revision (
    kind text not null,
    id integer not null,
    locale text not null,
    fetch_id integer not null,
    title text,
    summary text,
    body text,
    payload text,
    superseded_by integer not null,
    primary key (kind, id, locale, fetch_id)
  ) strict`.execute(db)

  await sql`create table content_term (
    kind text not null,
    id integer not null,
    term_id integer not null,
    primary key (kind, id, term_id),
    foreign key (kind, id) references content(kind, id) deferrable initially deferred,
    foreign key (term_id) references taxonomy_term(id) deferrable initially deferred
  ) strict, without rowid`.execute(db)

  await sql`create table content_text (
    kind text not null,
    id integer not null,
    locale text not null,
    title text,
    slug text,
    permalink text,
    summary text,
    body text,
    body_text text,
    payload text,
    last_seen_at text,
    withdrawn_at text,
    fetch_id integer not null,
    primary key (kind, id, locale),
    foreign key (kind, id) references content(kind, id) deferrable initially deferred
  ) strict`.execute(db)

  await sql`create table content_vocabulary (
    kind text not null,
    id integer not null,
    vocabulary_id integer not null,
    primary key (kind, id, vocabulary_id),
    foreign key (kind, id) references content(kind, id) deferrable initially deferred,
    foreign key (vocabulary_id) references vocabulary(id) deferrable initially deferred
  ) strict, without rowid`.execute(db)

  await sql`create table archive (
    kind text not null,
    id integer not null,
    horizon text,
    archive_type text,
    first_seen_at text not null,
    payload text,
    primary key (kind, id)
  ) strict`.execute(db)

  await sql`create table archive_edition (
    kind text not null,
    id integer not null,
    date text not null,
    date_times text not null,
    publication_dates text not null,
    url text,
    first_seen_at text not null,
    payload text,
    primary key (kind, id, date, date_times, publication_dates),
    foreign key (kind, id) references archive(kind, id) deferrable initially deferred
  ) strict`.execute(db)

  await sql`create table archive_term (
    kind text not null,
    id integer not null,
    term_id integer not null,
    primary key (kind, id, term_id),
    foreign key (kind, id) references archive(kind, id) deferrable initially deferred,
    foreign key (term_id) references taxonomy_term(id) deferrable initially deferred
  ) strict, without rowid`.execute(db)

  await sql`create table archive_text (
    kind text not null,
    id integer not null,
    locale text not null,
    name text,
    description text,
    primary key (kind, id, locale),
    foreign key (kind, id) references archive(kind, id) deferrable initially deferred
  ) strict`.execute(db)

  await sql`create table archive_vocabulary (
    kind text not null,
    id integer not null,
    vocabulary_id integer not null,
    primary key (kind, id, vocabulary_id),
    foreign key (kind, id) references archive(kind, id) deferrable initially deferred,
    foreign key (vocabulary_id) references vocabulary(id) deferrable initially deferred
  ) strict, without rowid`.execute(db)

  await sql`create table widget (
    id integer primary key,
    slug text,
    type text,
    first_seen_at text not null,
    last_seen_at text,
    withdrawn_at text
  ) strict`.execute(db)

  await sql`create table widget_text (
    id integer not null,
    locale text not null,
    name text,
    subtitle text,
    payload_v1 text,
    payload_v2 text,
    last_seen_at text,
    withdrawn_at text,
    primary key (id, locale),
    foreign key (id) references widget(id) deferrable initially deferred
  ) strict`.execute(db)

  await sql`create table _budget (
    id integer primary key,
    host text not null,
    called_at integer not null
  ) strict`.execute(db)

  await sql`create table _fetch (
    id integer primary key,
    run_id integer not null,
    entry text not null,
    route text not null,
    target text not null,
    params text not null,
    series_id integer,
    geo_ids text,
    from_at integer,
    to_at integer,
    started_at text not null,
    finished_at text not null,
    outcome text not null,
    status integer,
    attempts integer not null,
    ms integer not null,
    bytes integer not null,
    reply_hash text,
    step_s integer,
    resolution_id integer,
    source_updated_at text,
    rows_new integer not null,
    rows_unchanged integer not null,
    rows_revised integer not null,
    rows_withdrawn integer not null,
    rows_rejected integer not null,
    rows_outside integer not null,
    message text,
    hint text,
    evidence text,
    foreign key (run_id) references _run(id) deferrable initially deferred,
    foreign key (series_id) references series(id) deferrable initially deferred
  ) strict`.execute(db)

  await sql`create table _lock (
    name text primary key not null,
    holder text not null,
    pid integer not null,
    host text not null,
    command text not null,
    acquired_at text not null,
    beat_at integer not null
  ) strict, without rowid`.execute(db)

  await sql`create table _quarantine (
    id integer primary key,
    run_id integer not null,
    fetch_id integer not null,
    path text not null,
    reason text not null,
    fragment text not null,
    created_at text not null,
    resolved_at text,
    foreign key (run_id) references _run(id) deferrable initially deferred,
    foreign key (fetch_id) references _fetch(id) deferrable initially deferred
  ) strict`.execute(db)

  await sql`create table _reply (
    hash text primary key not null,
    body blob not null,
    bytes integer not null,
    first_seen_at text not null
  ) strict`.execute(db)

  await sql`create table _run (
    id integer primary key,
    command text not null,
    job text not null,
    version text not null,
    started_at text not null,
    finished_at text,
    outcome text not null,
    requests integer not null,
    failed integer not null,
    bytes integer not null,
    rows_new integer not null,
    rows_unchanged integer not null,
    rows_revised integer not null,
    rows_withdrawn integer not null,
    rows_rejected integer not null,
    message text
  ) strict`.execute(db)

  await sql`create unique index series_identity on series (
    kind, indicator_id, coalesce(time_trunc, ''), coalesce(time_agg, ''), coalesce(geo_agg, ''), coalesce(geo_trunc, ''), coalesce(geo_ids, '')
  )`.execute(db)
  await sql`create index _fetch_target on _fetch (target, id)`.execute(db)
  await sql`create index _fetch_run on _fetch (run_id)`.execute(db)
  await sql`create index _fetch_series on _fetch (series_id, id)`.execute(db)
  await sql`create index _fetch_reply on _fetch (reply_hash)`.execute(db)
  await sql`create index _quarantine_fetch on _quarantine (fetch_id)`.execute(db)
  await sql`create index _budget_called on _budget (host, called_at)`.execute(db)

  // A changed value or text moves its old version into the history in the same statement, whoever changes it.
  await sql`create trigger observation_revised after update on observation
    when old.value is not new.value or old.step_s is not new.step_s
    begin
      insert into observation_revision (series_id, geo_id, at, fetch_id, value, step_s, superseded_by)
      values (old.series_id, old.geo_id, old.at, old.fetch_id, old.value, old.step_s, new.fetch_id);
    end`.execute(db)
  await sql`create trigger indicator_text_revised after update on indicator_text
    when old.name is not new.name or old.short_name is not new.short_name or old.description is not new.description
    begin
      insert into indicator_revision (kind, id, locale, fetch_id, name, short_name, description, superseded_by)
      values (old.kind, old.id, old.locale, old.fetch_id, old.name, old.short_name, old.description, new.fetch_id);
    end`.execute(db)
  await sql`create trigger content_text_revised after update on content_text
    when old.title is not new.title or old.summary is not new.summary or old.body is not new.body or old.payload is not new.payload
    begin
      insert into content_revision (kind, id, locale, fetch_id, title, summary, body, payload, superseded_by)
      values (old.kind, old.id, old.locale, old.fetch_id, old.title, old.summary, old.body, old.payload, new.fetch_id);
    end`.execute(db)

  await sql`create view observations as
    select s.id as series_id, s.kind, s.indicator_id,
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id order by t.locale desc limit 1) as indicator_name,
      o.geo_id, (select t.name from geo_text t where t.id = o.geo_id order by t.locale desc limit 1) as geo_name,
      strftime('%Y-%m-%dT%H:%M:%SZ', o.at, 'unixepoch') as at_utc,
      strftime('%Y-%m-%dT%H:%M:%S', o.at + z.offset_s, 'unixepoch') || printf('%s%02d:%02d', iif(z.offset_s < 0, '-', '+'), abs(z.offset_s) / 3600, abs(z.offset_s) % 3600 / 60) as at_local,
      date(o.at + z.offset_s, 'unixepoch') as local_date,
      o.step_s, o.value,
      f.finished_at as fetched_at
    from series s
    join observation o on o.series_id = s.id
    left join _fetch f on f.id = o.fetch_id
    join time_zone_offset z on z.zone = s.time_zone and z.from_at = (
      select max(c.from_at) from time_zone_offset c where c.zone = s.time_zone and c.from_at <= o.at
    )`.execute(db)

  await sql`create view observation_history as
    select s.id as series_id, s.kind, s.indicator_id,
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id order by t.locale desc limit 1) as indicator_name,
      o.geo_id, (select t.name from geo_text t where t.id = o.geo_id order by t.locale desc limit 1) as geo_name,
      strftime('%Y-%m-%dT%H:%M:%SZ', o.at, 'unixepoch') as at_utc,
      strftime('%Y-%m-%dT%H:%M:%S', o.at + z.offset_s, 'unixepoch') || printf('%s%02d:%02d', iif(z.offset_s < 0, '-', '+'), abs(z.offset_s) / 3600, abs(z.offset_s) % 3600 / 60) as at_local,
      date(o.at + z.offset_s, 'unixepoch') as local_date,
      o.step_s, o.value,
      f.finished_at as fetched_at, f.finished_at as valid_from, n.finished_at as valid_to
    from series s
    join (
      select series_id, geo_id, at, step_s, value, fetch_id, null as superseded_by from observation
      union all
      select series_id, geo_id, at, step_s, value, fetch_id, superseded_by from observation_revision
    ) o on o.series_id = s.id
    left join _fetch f on f.id = o.fetch_id
    left join _fetch n on n.id = o.superseded_by
    join time_zone_offset z on z.zone = s.time_zone and z.from_at = (
      select max(c.from_at) from time_zone_offset c where c.zone = s.time_zone and c.from_at <= o.at
    )`.execute(db)

  await sql`create view observations_daily as
    select s.id as series_id, s.kind, s.indicator_id,
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id order by t.locale desc limit 1) as indicator_name,
      d.geo_id, (select t.name from geo_text t where t.id = d.geo_id order by t.locale desc limit 1) as geo_name,
      date(d.period * 86400, 'unixepoch') as local_date, d.count, d.min, d.max, d.avg, d.sum, d.energy, d.hours
    from series s
    join (
      select p.series_id, p.geo_id, p.period,
        count(value) as count, min(value) as min, max(value) as max,
        sum(value * step_s) / sum(iif(value is null, null, step_s)) as avg, sum(value) as sum,
        sum(value * step_s) / 3600.0 as energy, sum(iif(value is null, null, step_s)) / 3600.0 as hours
      from (
        select o.series_id, o.geo_id, o.value, o.step_s, (o.at + z.offset_s) / 86400 as period
        from observation o
        join series q on q.id = o.series_id
        join time_zone_offset z on z.zone = q.time_zone and z.from_at = (
          select max(c.from_at) from time_zone_offset c where c.zone = q.time_zone and c.from_at <= o.at
        )
      ) p
      group by p.series_id, p.geo_id, p.period
    ) d on d.series_id = s.id`.execute(db)

  await sql`create view observations_monthly as
    select s.id as series_id, s.kind, s.indicator_id,
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id order by t.locale desc limit 1) as indicator_name,
      d.geo_id, (select t.name from geo_text t where t.id = d.geo_id order by t.locale desc limit 1) as geo_name,
      d.period as local_month, d.count, d.min, d.max, d.avg, d.sum, d.energy, d.hours
    from series s
    join (
      select p.series_id, p.geo_id, p.period,
        count(value) as count, min(value) as min, max(value) as max,
        sum(value * step_s) / sum(iif(value is null, null, step_s)) as avg, sum(value) as sum,
        sum(value * step_s) / 3600.0 as energy, sum(iif(value is null, null, step_s)) / 3600.0 as hours
      from (
        select o.series_id, o.geo_id, o.value, o.step_s, strftime('%Y-%m', o.at + z.offset_s, 'unixepoch') as period
        from observation o
        join series q on q.id = o.series_id
        join time_zone_offset z on z.zone = q.time_zone and z.from_at = (
          select max(c.from_at) from time_zone_offset c where c.zone = q.time_zone and c.from_at <= o.at
        )
      ) p
      group by p.series_id, p.geo_id, p.period
    ) d on d.series_id = s.id`.execute(db)

  await sql`create view latest as
    select s.id as series_id, s.kind, s.indicator_id,
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id order by t.locale desc limit 1) as indicator_name,
      o.geo_id, (select t.name from geo_text t where t.id = o.geo_id order by t.locale desc limit 1) as geo_name,
      strftime('%Y-%m-%dT%H:%M:%SZ', o.at, 'unixepoch') as at_utc,
      strftime('%Y-%m-%dT%H:%M:%S', o.at + z.offset_s, 'unixepoch') || printf('%s%02d:%02d', iif(z.offset_s < 0, '-', '+'), abs(z.offset_s) / 3600, abs(z.offset_s) % 3600 / 60) as at_local,
      date(o.at + z.offset_s, 'unixepoch') as local_date,
      o.step_s, o.value,
      f.finished_at as fetched_at
    from series s
    join series_geo g on g.series_id = s.id
    join observation o on o.series_id = g.series_id and o.geo_id = g.geo_id and o.at = (
      select max(l.at) from observation l where l.series_id = g.series_id and l.geo_id = g.geo_id
    )
    left join _fetch f on f.id = o.fetch_id
    join time_zone_offset z on z.zone = s.time_zone and z.from_at = (
      select max(c.from_at) from time_zone_offset c where c.zone = s.time_zone and c.from_at <= o.at
    )`.execute(db)

  await sql`create view coverage as
    select s.id as series_id, s.kind, s.indicator_id,
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id order by t.locale desc limit 1) as indicator_name,
      c.geo_id,
      strftime('%Y-%m-%dT%H:%M:%S', c.from_at + (select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= c.from_at order by z.from_at desc limit 1), 'unixepoch') || printf('%s%02d:%02d', iif((select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= c.from_at order by z.from_at desc limit 1) < 0, '-', '+'), abs((select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= c.from_at order by z.from_at desc limit 1)) / 3600, abs((select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= c.from_at order by z.from_at desc limit 1)) % 3600 / 60) as from_local,
      strftime('%Y-%m-%dT%H:%M:%S', c.to_at + (select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= c.to_at order by z.from_at desc limit 1), 'unixepoch') || printf('%s%02d:%02d', iif((select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= c.to_at order by z.from_at desc limit 1) < 0, '-', '+'), abs((select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= c.to_at order by z.from_at desc limit 1)) / 3600, abs((select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= c.to_at order by z.from_at desc limit 1)) % 3600 / 60) as to_local,
      c.state, strftime('%Y-%m-%dT%H:%M:%SZ', c.fetched_at, 'unixepoch') as fetched_at
    from series s
    join _coverage c on c.series_id = s.id`.execute(db)

  await sql`create view gaps as
    select s.id as series_id, s.kind, s.indicator_id,
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id order by t.locale desc limit 1) as indicator_name,
      h.geo_id,
      strftime('%Y-%m-%dT%H:%M:%S', h.from_at + (select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1), 'unixepoch') || printf('%s%02d:%02d', iif((select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1) < 0, '-', '+'), abs((select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1)) / 3600, abs((select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= h.from_at order by z.from_at desc limit 1)) % 3600 / 60) as from_local,
      strftime('%Y-%m-%dT%H:%M:%S', h.to_at + (select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1), 'unixepoch') || printf('%s%02d:%02d', iif((select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1) < 0, '-', '+'), abs((select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1)) / 3600, abs((select z.offset_s from time_zone_offset z where z.zone = s.time_zone and z.from_at <= h.to_at order by z.from_at desc limit 1)) % 3600 / 60) as to_local,
      h.reason, h.missing
    from series s
    join (
      select c.series_id, c.geo_id, c.before as from_at, c.from_at as to_at, 'unasked' as reason, null as missing
      from (
        select series_id, geo_id, from_at, lag(to_at) over (partition by series_id, geo_id order by from_at) as before
        from _coverage
      ) c
      where c.before < c.from_at
      union all
      select distinct o.series_id, o.geo_id, max(o.next_at, c.from_at), min(o.following, c.to_at), 'absent',
        (min(o.following, c.to_at) - max(o.next_at, c.from_at)) / o.step_s
      from (
        select series_id, geo_id, step_s, at + step_s as next_at,
          lead(at) over (partition by series_id, geo_id order by at) as following
        from observation
      ) o
      join _coverage c on c.series_id = o.series_id and c.geo_id in (0, o.geo_id) and c.from_at < o.following and c.to_at > o.next_at
      where o.following > o.next_at
    ) h on h.series_id = s.id`.execute(db)

  await sql`create view freshness as
    select s.id as series_id, s.kind, s.indicator_id,
      (select t.name from indicator_text t where t.kind = s.kind and t.id = s.indicator_id order by t.locale desc limit 1) as indicator_name,
      g.geo_id, (select t.name from geo_text t where t.id = g.geo_id order by t.locale desc limit 1) as geo_name,
      strftime('%Y-%m-%dT%H:%M:%SZ', g.first_at, 'unixepoch') as first_utc,
      strftime('%Y-%m-%dT%H:%M:%SZ', g.last_at, 'unixepoch') as last_utc,
      strftime('%Y-%m-%dT%H:%M:%S', g.last_at + z.offset_s, 'unixepoch') || printf('%s%02d:%02d', iif(z.offset_s < 0, '-', '+'), abs(z.offset_s) / 3600, abs(z.offset_s) % 3600 / 60) as last_local,
      (select max(f.finished_at) from _fetch f where f.series_id = s.id and f.outcome in ('ok', 'empty')) as checked_at
    from series s
    join (
      select h.series_id, h.geo_id,
        (select min(o.at) from observation o where o.series_id = h.series_id and o.geo_id = h.geo_id) as first_at,
        (select max(o.at) from observation o where o.series_id = h.series_id and o.geo_id = h.geo_id) as last_at
      from series_geo h
    ) g on g.series_id = s.id
    join time_zone_offset z on z.zone = s.time_zone and z.from_at <= g.last_at and z.to_at > g.last_at`.execute(db)

  await sql`create view indicator_history as
    select h.kind, h.id, h.locale, h.name, h.short_name, h.description,
      f.finished_at as valid_from, n.finished_at as valid_to
    from (
      select kind, id, locale, name, short_name, description, fetch_id, null as superseded_by from indicator_text
      union all
      select kind, id, locale, name, short_name, description, fetch_id, superseded_by from indicator_revision
    ) h
    left join _fetch f on f.id = h.fetch_id
    left join _fetch n on n.id = h.superseded_by`.execute(db)

  await sql`create view runs as
    select id, command, job, started_at, finished_at,
      round((julianday(finished_at) - julianday(started_at)) * 86400, 3) as seconds,
      outcome, requests, failed, bytes, rows_new, rows_unchanged, rows_revised, rows_withdrawn, rows_rejected, message
    from _run
    order by id desc`.execute(db)

  // 'INDS' in ASCII: how `file` and our own command know the database.
  await sql`pragma application_id = 1229866067`.execute(db)
  await sql`pragma user_version = 1`.execute(db)
}
