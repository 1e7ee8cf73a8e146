import { type Kysely, sql } from 'kysely'

/*
 * The whole schema as it stands when a database on a server is made: the tables of `src/tables`, functions with which the
 * views of SQLite are understood, the views themselves, history of texts, and search.
 */

/** Functions that SQLite has and PostgreSQL has not, as far as views, recipes and statements use them. */
const COMPAT = [
  'create schema if not exists compat',
  `create function compat.to_format(text) returns text language sql immutable parallel safe as $$
  select replace(replace(replace(replace(replace(replace(replace(replace($1, 'T', '"T"'), 'Z', '"Z"'),
    '%Y', 'YYYY'), '%m', 'MM'), '%d', 'DD'), '%H', 'HH24'), '%M', 'MI'), '%S', 'SS') $$`,
  `create function compat.as_time(bigint) returns timestamp language sql immutable parallel safe as $$
  select nullif(least(timestamp '1970-01-01' + $1 * interval '1 second', timestamp '10000-01-01'), timestamp '10000-01-01') $$`,
  `create function compat.as_time(text) returns timestamp language plpgsql stable parallel safe set timezone = 'UTC' as $$
  begin
    return case when $1 = 'now' then statement_timestamp() else $1::timestamptz end at time zone 'UTC';
  exception when invalid_datetime_format or datetime_field_overflow then return null;
  end $$`,
  `create function compat.strftime(text, bigint, text) returns text language sql stable parallel safe as $$
  select to_char(compat.as_time($2), compat.to_format($1)) $$`,
  `create function compat.strftime(text, text) returns text language sql stable parallel safe as $$
  select case $1 when '%w' then extract(dow from compat.as_time($2))::text else to_char(compat.as_time($2), compat.to_format($1)) end $$`,
  `create function compat.date(bigint, text) returns text language sql stable parallel safe as $$
  select to_char(compat.as_time($1), 'YYYY-MM-DD') $$`,
  `create function compat.date(text) returns text language sql stable parallel safe as $$
  select to_char(compat.as_time($1), 'YYYY-MM-DD') $$`,
  `create function compat.datetime(text) returns text language sql stable parallel safe as $$
  select to_char(compat.as_time($1), 'YYYY-MM-DD HH24:MI:SS') $$`,
  `create function compat.epoch_of(timestamp) returns bigint language sql immutable parallel safe as $$
  select floor(extract(epoch from $1))::bigint $$`,
  `create function compat.moved(at timestamp, variadic modifiers text[]) returns timestamp language plpgsql immutable parallel safe as $$
  declare modifier text;
  begin
    foreach modifier in array modifiers loop
      at := case when modifier like 'start of %' then date_trunc(substr(modifier, 10), at) else at + modifier::interval end;
    end loop;
    return at;
  end $$`,
  `create function compat.unixepoch(text) returns bigint language sql stable parallel safe as $$ select compat.epoch_of(compat.as_time($1)) $$`,
  `create function compat.unixepoch(text, text) returns bigint language sql stable parallel safe as $$ select compat.epoch_of(compat.moved(compat.as_time($1), $2)) $$`,
  `create function compat.unixepoch(bigint, text, variadic text[]) returns bigint language sql immutable parallel safe as $$
  select compat.epoch_of(compat.moved(compat.as_time($1), variadic $3)) $$`,
  `create function compat.julianday(text) returns float8 language sql stable parallel safe as $$
  select (extract(epoch from compat.as_time($1)))::float8 / 86400 + 2440587.5 $$`,
  `create function compat.printf(text, text, bigint, bigint) returns text language sql immutable parallel safe as $$
  select $2 || lpad($3::text, 2, '0') || ':' || lpad($4::text, 2, '0') $$`,
  `create function compat.iif(boolean, anycompatible, anycompatible) returns anycompatible language sql immutable parallel safe as $$
  select case when $1 then $2 else $3 end $$`,
  `create function compat.iif(bigint, anycompatible, anycompatible) returns anycompatible language sql immutable parallel safe as $$
  select case when $1 <> 0 then $2 else $3 end $$`,
  `create function compat.ifnull(anycompatible, anycompatible) returns anycompatible language sql immutable parallel safe as $$ select coalesce($1, $2) $$`,
  `create function compat.max(bigint, bigint) returns bigint language sql immutable parallel safe as $$
  select case when $1 >= $2 then $1 when $2 > $1 then $2 end $$`,
  `create function compat.min(bigint, bigint) returns bigint language sql immutable parallel safe as $$
  select case when $1 <= $2 then $1 when $2 < $1 then $2 end $$`,
  `create function compat.max(float8, float8) returns float8 language sql immutable parallel safe as $$
  select case when $1 >= $2 then $1 when $2 > $1 then $2 end $$`,
  `create function compat.min(float8, float8) returns float8 language sql immutable parallel safe as $$
  select case when $1 <= $2 then $1 when $2 < $1 then $2 end $$`,
  `create function compat.printf(text, bigint, bigint, bigint) returns text language sql immutable parallel safe as $$
  select lpad($2::text, 4, '0') || '-' || lpad($3::text, 2, '0') || '-' || lpad($4::text, 2, '0') $$`,
  `create function compat.json_each(text) returns table (value bigint) language sql immutable parallel safe as $$
  select v::bigint from json_array_elements_text($1::json) v $$`,
  `create function compat.json_each(text, text) returns table (value bigint) language sql immutable parallel safe as $$
  select v::bigint from jsonb_path_query($1::jsonb, ($2 || '[*]')::jsonpath) v $$`,
  `create function compat.json_extract(text, text) returns text language sql immutable parallel safe as $$
  select $1::jsonb #>> array[case $2 when '$[0]' then '0' when '$[#-1]' then '-1' end] $$`,
  `create function compat.json_array_length(text) returns bigint language sql immutable parallel safe as $$ select json_array_length($1::json)::bigint $$`,
  `create function compat.joined(text, text, text) returns text language sql immutable parallel safe as $$
  select case when $2 is null then $1 else coalesce($1 || $3, '') || $2 end $$`,
  `create aggregate compat.group_concat(text, text) (sfunc = compat.joined, stype = text)`,
  `create function compat.joined_by_comma(text, bigint) returns text language sql immutable parallel safe as $$ select coalesce($1 || ',', '') || $2 $$`,
  `create aggregate compat.group_concat(bigint) (sfunc = compat.joined_by_comma, stype = text)`,
  `create function compat.counted(bigint, boolean) returns bigint language sql immutable parallel safe as $$ select $1 + coalesce($2::int, 0) $$`,
  `create aggregate compat.sum(boolean) (sfunc = compat.counted, stype = bigint, initcond = '0')`,
  `create function compat.multiplied(text, bigint) returns bigint language sql immutable parallel safe as $$ select $1::bigint * $2 $$`,
  `create function compat.added(text, bigint) returns bigint language sql immutable parallel safe as $$ select $1::bigint + $2 $$`,
  `create function compat.added(bigint, text) returns bigint language sql immutable parallel safe as $$ select $1 + $2::bigint $$`,
  `create operator compat.* (leftarg = text, rightarg = bigint, function = compat.multiplied)`,
  `create operator compat.+ (leftarg = text, rightarg = bigint, function = compat.added)`,
  `create operator compat.+ (leftarg = bigint, rightarg = text, function = compat.added)`,
  `create function compat.round(value float8) returns float8 language sql immutable parallel safe as $$
  select case when $1 < 0 then -floor(0.5 - $1) else floor($1 + 0.5) end $$`,
  `create function compat.round(value float8, digits integer) returns float8 language plpgsql immutable parallel safe strict as $$
  declare
    whole float8 := trunc(abs(value));
    part numeric := ((abs(value) - whole) * 4611686018427387904::float8)::bigint;
  begin
    if whole > 4503599627370496 then return value; end if;
    return sign(value) * (whole::numeric + div(part * 10 ^ digits::numeric * 2 + 4611686018427387904, 9223372036854775808) * 0.1 ^ digits::numeric)::float8;
  end $$`,
]

const TABLES = [
  `create table geo (
      id bigint not null,
      level text collate "C",
      primary key (id)
    )`,
  `create table geo_text (
      id bigint not null,
      locale text collate "C" not null,
      name text collate "C" not null,
      primary key (id, locale)
    )`,
  `create table time_zone_offset (
      zone text collate "C" not null,
      from_at bigint not null,
      to_at bigint not null,
      offset_s bigint not null,
      zone_data text collate "C",
      primary key (zone, from_at)
    )`,
  `create table taxonomy_term (
      id bigint not null,
      vocabulary_id bigint,
      primary key (id)
    )`,
  `create table taxonomy_term_text (
      id bigint not null,
      locale text collate "C" not null,
      name text collate "C" not null,
      primary key (id, locale)
    )`,
  `create table vocabulary (
      id bigint not null,
      primary key (id)
    )`,
  `create table vocabulary_text (
      id bigint not null,
      locale text collate "C" not null,
      name text collate "C" not null,
      primary key (id, locale)
    )`,
  `create table indicator (
      kind text collate "C" not null,
      id bigint not null,
      step_type text collate "C",
      composited bigint,
      disaggregated bigint,
      magnitude_id bigint,
      magnitude text collate "C",
      first_seen_at text collate "C" not null,
      last_seen_at text collate "C",
      withdrawn_at text collate "C",
      payload text collate "C",
      primary key (kind, id)
    )`,
  `create table indicator_revision (
      kind text collate "C" not null,
      id bigint not null,
      locale text collate "C" not null,
      fetch_id bigint not null,
      name text collate "C",
      short_name text collate "C",
      description text collate "C",
      superseded_by bigint not null,
      primary key (kind, id, locale, fetch_id)
    )`,
  `create table indicator_term (
      term text collate "C" not null,
      kind text collate "C" not null,
      id bigint not null,
      primary key (term, kind, id)
    )`,
  `create table indicator_text (
      kind text collate "C" not null,
      id bigint not null,
      locale text collate "C" not null,
      name text collate "C",
      short_name text collate "C",
      description text collate "C",
      description_text text collate "C",
      last_seen_at text collate "C",
      withdrawn_at text collate "C",
      fetch_id bigint not null,
      primary key (kind, id, locale)
    )`,
  `create table _absent (
      series_id bigint not null,
      geo_id bigint not null,
      from_at bigint not null,
      to_at bigint not null,
      step_s bigint,
      missing bigint,
      since_at bigint not null,
      checked_at bigint not null,
      primary key (series_id, geo_id, from_at)
    )`,
  `create table _coverage (
      series_id bigint not null,
      geo_id bigint not null,
      from_at bigint not null,
      to_at bigint not null,
      state text collate "C" not null,
      fetched_at bigint not null,
      settled_s bigint not null default 0,
      since_at bigint,
      primary key (series_id, geo_id, from_at)
    )`,
  `create table _day (
      series_id bigint not null,
      geo_id bigint not null,
      month bigint not null,
      day bigint not null,
      count bigint not null,
      hours double precision,
      min double precision,
      max double precision,
      sum double precision,
      energy double precision,
      first_s bigint,
      last_s bigint,
      missing bigint not null,
      primary key (series_id, geo_id, month, day)
    )`,
  `create table _resolution (
      series_id bigint not null,
      from_at bigint not null,
      step_s bigint not null,
      primary key (series_id, from_at)
    )`,
  `create table _wanted (
      series_id bigint not null,
      job text collate "C" not null,
      entry text collate "C" not null,
      geo_ids text collate "C",
      from_at bigint not null,
      to_at bigint not null,
      primary key (series_id, job, entry)
    )`,
  `create table observation (
      series_id bigint not null,
      geo_id bigint not null,
      at bigint not null,
      value double precision,
      step_s bigint not null,
      fetch_id bigint not null,
      primary key (series_id, geo_id, at)
    ) partition by range (at)`,
  `create table observation_revision (
      series_id bigint not null,
      geo_id bigint not null,
      at bigint not null,
      fetch_id bigint not null,
      value double precision,
      step_s bigint not null,
      superseded_by bigint not null,
      primary key (series_id, geo_id, at, fetch_id)
    )`,
  `create table series (
      id bigint generated by default as identity,
      kind text collate "C" not null,
      indicator_id bigint not null,
      time_trunc text collate "C",
      time_agg text collate "C",
      geo_agg text collate "C",
      geo_trunc text collate "C",
      geo_ids text collate "C",
      time_zone text collate "C" not null,
      window_s bigint,
      created_at text collate "C" not null,
      lookback_s bigint,
      primary key (id)
    )`,
  `create table series_geo (
      series_id bigint not null,
      geo_id bigint not null,
      primary key (series_id, geo_id)
    )`,
  `create table content (
      kind text collate "C" not null,
      id bigint not null,
      published_status text collate "C",
      published_at text collate "C",
      updated_at text collate "C",
      expires_at text collate "C",
      created_at text collate "C",
      sticky bigint,
      first_seen_at text collate "C" not null,
      last_seen_at text collate "C",
      withdrawn_at text collate "C",
      primary key (kind, id)
    )`,
  `create table content_media (
      kind text collate "C" not null,
      id bigint not null,
      locale text collate "C" not null,
      media_id bigint not null,
      title text collate "C",
      media_type text collate "C",
      file_name text collate "C",
      content_type text collate "C",
      file_size bigint,
      url text collate "C",
      payload text collate "C",
      primary key (kind, id, locale, media_id)
    )`,
  `create table content_revision (
      kind text collate "C" not null,
      id bigint not null,
      locale text collate "C" not null,
      fetch_id bigint not null,
      title text collate "C",
      summary text collate "C",
      body text collate "C",
      payload text collate "C",
      superseded_by bigint not null,
      primary key (kind, id, locale, fetch_id)
    )`,
  `create table content_term (
      kind text collate "C" not null,
      id bigint not null,
      term_id bigint not null,
      primary key (kind, id, term_id)
    )`,
  `create table content_text (
      kind text collate "C" not null,
      id bigint not null,
      locale text collate "C" not null,
      title text collate "C",
      slug text collate "C",
      permalink text collate "C",
      summary text collate "C",
      body text collate "C",
      body_text text collate "C",
      payload text collate "C",
      last_seen_at text collate "C",
      withdrawn_at text collate "C",
      fetch_id bigint not null,
      primary key (kind, id, locale)
    )`,
  `create table content_vocabulary (
      kind text collate "C" not null,
      id bigint not null,
      vocabulary_id bigint not null,
      primary key (kind, id, vocabulary_id)
    )`,
  `create table archive (
      kind text collate "C" not null,
      id bigint not null,
      horizon text collate "C",
      archive_type text collate "C",
      first_seen_at text collate "C" not null,
      payload text collate "C",
      primary key (kind, id)
    )`,
  `create table archive_edition (
      kind text collate "C" not null,
      id bigint not null,
      date text collate "C" not null,
      date_times text collate "C" not null,
      publication_dates text collate "C" not null,
      url text collate "C",
      first_seen_at text collate "C" not null,
      payload text collate "C",
      primary key (kind, id, date, date_times, publication_dates)
    )`,
  `create table archive_file (
      url text collate "C" not null,
      sha256 text collate "C" not null,
      bytes bigint not null,
      content_type text collate "C",
      file_name text collate "C",
      path text collate "C" not null,
      fetched_at text collate "C" not null,
      primary key (url)
    )`,
  `create table archive_term (
      kind text collate "C" not null,
      id bigint not null,
      term_id bigint not null,
      primary key (kind, id, term_id)
    )`,
  `create table archive_text (
      kind text collate "C" not null,
      id bigint not null,
      locale text collate "C" not null,
      name text collate "C",
      description text collate "C",
      primary key (kind, id, locale)
    )`,
  `create table archive_vocabulary (
      kind text collate "C" not null,
      id bigint not null,
      vocabulary_id bigint not null,
      primary key (kind, id, vocabulary_id)
    )`,
  `create table widget (
      id bigint not null,
      slug text collate "C",
      type text collate "C",
      first_seen_at text collate "C" not null,
      last_seen_at text collate "C",
      withdrawn_at text collate "C",
      primary key (id)
    )`,
  `create table widget_text (
      id bigint not null,
      locale text collate "C" not null,
      name text collate "C",
      subtitle text collate "C",
      payload_v1 text collate "C",
      payload_v2 text collate "C",
      last_seen_at text collate "C",
      withdrawn_at text collate "C",
      primary key (id, locale)
    )`,
  `create table data_dictionary (
      object text collate "C" not null,
      column_name text collate "C" not null,
      kind text collate "C" not null,
      position bigint not null,
      type text collate "C",
      unit text collate "C",
      meaning text collate "C" not null,
      primary key (object, column_name)
    )`,
  `create table search_item (
      id bigint generated by default as identity,
      kind text collate "C" not null,
      item_id bigint not null,
      locale text collate "C" not null,
      primary key (id),
      unique (kind, item_id, locale)
    )`,
  `create table _budget (
      id bigint generated by default as identity,
      host text collate "C" not null,
      called_at bigint not null,
      primary key (id)
    )`,
  `create table _fence (
      name text collate "C" not null,
      number bigint not null,
      primary key (name)
    )`,
  `create table _fetch (
      id bigint generated by default as identity,
      run_id bigint not null,
      entry text collate "C" not null,
      route text collate "C" not null,
      target text collate "C" not null,
      params text collate "C" not null,
      series_id bigint,
      geo_ids text collate "C",
      from_at bigint,
      to_at bigint,
      started_at text collate "C" not null,
      finished_at text collate "C" not null,
      outcome text collate "C" not null,
      status bigint,
      attempts bigint not null,
      ms bigint not null,
      bytes bigint not null,
      reply_hash text collate "C",
      step_s bigint,
      resolution_id bigint,
      source_updated_at text collate "C",
      rows_new bigint not null,
      rows_unchanged bigint not null,
      rows_revised bigint not null,
      rows_withdrawn bigint not null,
      rows_rejected bigint not null,
      rows_outside bigint not null,
      message text collate "C",
      hint text collate "C",
      evidence text collate "C",
      settled_before bigint,
      time_zone text collate "C",
      complete bigint,
      lookback_s bigint,
      last_at bigint,
      doubts text collate "C",
      reason text collate "C",
      primary key (id)
    )`,
  `create table _lock (
      name text collate "C" not null,
      fence bigint not null,
      pid bigint not null,
      host text collate "C" not null,
      command text collate "C" not null,
      acquired_at text collate "C" not null,
      primary key (name)
    )`,
  `create table _quarantine (
      id bigint generated by default as identity,
      run_id bigint not null,
      fetch_id bigint not null,
      path text collate "C" not null,
      reason text collate "C" not null,
      fragment text collate "C" not null,
      created_at text collate "C" not null,
      resolved_at text collate "C",
      dismissed text collate "C",
      dismissed_after bigint,
      geo_id bigint,
      at bigint,
      primary key (id)
    )`,
  `create table _reply (
      hash text collate "C" not null,
      body bytea not null,
      bytes bigint not null,
      first_seen_at text collate "C" not null,
      form text collate "C" not null default 'zstd',
      primary key (hash)
    )`,
  `create table _run (
      id bigint generated by default as identity,
      command text collate "C" not null,
      job text collate "C" not null,
      version text collate "C" not null,
      started_at text collate "C" not null,
      finished_at text collate "C",
      outcome text collate "C" not null,
      requests bigint not null,
      failed bigint not null,
      bytes bigint not null,
      rows_new bigint not null,
      rows_unchanged bigint not null,
      rows_revised bigint not null,
      rows_withdrawn bigint not null,
      rows_rejected bigint not null,
      message text collate "C",
      schedule text collate "C",
      time_zone text collate "C",
      primary key (id)
    )`,
  `create table _source (
      host text collate "C" not null,
      base_url text collate "C" not null,
      service text collate "C" not null,
      first_asked_at text collate "C" not null,
      wait_until bigint,
      primary key (host)
    )`,
]

const KEYS = [
  'alter table _reply alter column body set storage external',
  `alter table geo_text add foreign key (id) references geo (id) deferrable initially deferred`,
  `alter table taxonomy_term_text add foreign key (id) references taxonomy_term (id) deferrable initially deferred`,
  `alter table vocabulary_text add foreign key (id) references vocabulary (id) deferrable initially deferred`,
  `alter table indicator_text add foreign key (kind, id) references indicator (kind, id) deferrable initially deferred`,
  `alter table _absent add foreign key (series_id) references series (id) deferrable initially deferred`,
  `alter table _coverage add foreign key (series_id) references series (id) deferrable initially deferred`,
  `alter table _resolution add foreign key (series_id) references series (id) deferrable initially deferred`,
  `alter table _wanted add foreign key (series_id) references series (id) deferrable initially deferred`,
  `alter table series add foreign key (kind, indicator_id) references indicator (kind, id) deferrable initially deferred`,
  `alter table series_geo add foreign key (series_id) references series (id) deferrable initially deferred`,
  `alter table content_media add foreign key (kind, id) references content (kind, id) deferrable initially deferred`,
  `alter table content_term add foreign key (kind, id) references content (kind, id) deferrable initially deferred`,
  `alter table content_term add foreign key (term_id) references taxonomy_term (id) deferrable initially deferred`,
  `alter table content_text add foreign key (kind, id) references content (kind, id) deferrable initially deferred`,
  `alter table content_vocabulary add foreign key (kind, id) references content (kind, id) deferrable initially deferred`,
  `alter table content_vocabulary add foreign key (vocabulary_id) references vocabulary (id) deferrable initially deferred`,
  `alter table archive_edition add foreign key (kind, id) references archive (kind, id) deferrable initially deferred`,
  `alter table archive_term add foreign key (kind, id) references archive (kind, id) deferrable initially deferred`,
  `alter table archive_term add foreign key (term_id) references taxonomy_term (id) deferrable initially deferred`,
  `alter table archive_text add foreign key (kind, id) references archive (kind, id) deferrable initially deferred`,
  `alter table archive_vocabulary add foreign key (kind, id) references archive (kind, id) deferrable initially deferred`,
  `alter table archive_vocabulary add foreign key (vocabulary_id) references vocabulary (id) deferrable initially deferred`,
  `alter table widget_text add foreign key (id) references widget (id) deferrable initially deferred`,
  `alter table _fetch add foreign key (run_id) references _run (id) deferrable initially deferred`,
  `alter table _fetch add foreign key (series_id) references series (id) deferrable initially deferred`,
  `alter table _quarantine add foreign key (run_id) references _run (id) deferrable initially deferred`,
  `alter table _quarantine add foreign key (fetch_id) references _fetch (id) deferrable initially deferred`,
]

const INDEXES = [
  `create index _absent_end on _absent (series_id, to_at)`,
  `create index _budget_called on _budget (host, called_at)`,
  `create index _fetch_absent on _fetch (id) where reason = 'absent'`,
  `create index _fetch_checked on _fetch (series_id, finished_at) where outcome in ('ok', 'empty')`,
  `create index _fetch_coarse on _fetch (series_id, id) where outcome = 'coarse'`,
  `create index _fetch_failed on _fetch (series_id, id) where outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped')`,
  `create index _fetch_reply on _fetch (reply_hash)`,
  `create index _fetch_run on _fetch (run_id)`,
  `create index _fetch_series on _fetch (series_id, id)`,
  `create index _fetch_target on _fetch (target, id)`,
  `create index _quarantine_dismissed on _quarantine (dismissed_after) where dismissed_after is not null`,
  `create index _quarantine_fetch on _quarantine (fetch_id)`,
  `create index _quarantine_open on _quarantine (fetch_id) where resolved_at is null`,
  `create index content_revision_by on content_revision (superseded_by)`,
  `create index indicator_revision_by on indicator_revision (superseded_by)`,
  `create unique index series_identity on series (
      kind, indicator_id, coalesce(time_trunc, ''), coalesce(time_agg, ''), coalesce(geo_agg, ''), coalesce(geo_trunc, ''), coalesce(geo_ids, '')
    )`,
]

/** Values by year in which their periods begin; what lies before and after has one part each. */
const FIRST_YEAR = 2010
const END_YEAR = 2036
const begins = (year: number): number => Date.UTC(year, 0) / 1000
const PARTITIONS = [
  `create table observation_before partition of observation for values from (minvalue) to (${begins(FIRST_YEAR)}) with (fillfactor = 90)`,
  ...Array.from({ length: END_YEAR - FIRST_YEAR }, (_, i) => FIRST_YEAR + i).map(
    (year) =>
      `create table observation_${year} partition of observation for values from (${begins(year)}) to (${begins(year + 1)}) with (fillfactor = 90)`,
  ),
  `create table observation_after partition of observation for values from (${begins(END_YEAR)}) to (maxvalue) with (fillfactor = 90)`,
]

/** A text that changes leaves its old version to the history. */
const revised = (table: string, history: string, columns: readonly string[]): string[] => [
  `create function ${table}_revised() returns trigger language plpgsql as $$ begin
      insert into ${history} (kind, id, locale, fetch_id, ${columns.join(', ')}, superseded_by)
      values (old.kind, old.id, old.locale, old.fetch_id, ${columns.map((column) => `old.${column}`).join(', ')}, new.fetch_id);
      return null;
    end $$`,
  `create trigger ${table}_revised after update on ${table} for each row
    when (${columns.map((column) => `old.${column} is distinct from new.${column}`).join(' or ')})
    execute function ${table}_revised()`,
]

/** A text is found by its words, without accents and whatever their case. */
const found = (table: string, columns: readonly string[]): string[] => {
  const text = columns.map((column) => `coalesce(new.${column}, '')`).join(" || ' ' || ")
  return [
    `create function ${table}_found() returns trigger language plpgsql as $$ begin
      if tg_op = 'DELETE' then
        delete from search_item where kind = old.kind and item_id = old.id and locale = old.locale;
        return null;
      end if;
      insert into search_item (kind, item_id, locale) values (new.kind, new.id, new.locale) on conflict do nothing;
      insert into search (id, words)
      select id, compat.words_of(${text}) from search_item where kind = new.kind and item_id = new.id and locale = new.locale
      on conflict (id) do update set words = excluded.words;
      return null;
    end $$`,
    `create trigger ${table}_found after insert or delete on ${table} for each row execute function ${table}_found()`,
    `create trigger ${table}_found_again after update on ${table} for each row
      when (${columns.map((column) => `old.${column} is distinct from new.${column}`).join(' or ')})
      execute function ${table}_found()`,
  ]
}

const TEXTS = [
  'create extension if not exists unaccent schema compat',
  `create function compat.words_of(text) returns tsvector language sql stable parallel safe
    set search_path = compat, public, pg_catalog as $$
      select coalesce(array_to_tsvector(array(
        select distinct left(word, 500) from regexp_split_to_table(lower(unaccent($1)), '[^a-z0-9\\u0080-\\U0010ffff]+') word where word <> ''
      )), '') $$`,
  'create table search (id bigint primary key references search_item (id) on delete cascade, words tsvector not null)',
  'create index search_words on search using gin (words)',
  ...revised('indicator_text', 'indicator_revision', ['name', 'short_name', 'description']),
  ...revised('content_text', 'content_revision', ['title', 'summary', 'body', 'payload']),
  ...found('indicator_text', ['name', 'short_name', 'description_text']),
  ...found('content_text', ['title', 'summary', 'body_text']),
  ...found('archive_text', ['name', 'description']),
]

const VIEWS = [
  `create view observations as select s.id as series_id, s.kind, s.indicator_id,
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
    compat.date(o.at + z.offset_s, 'unixepoch') as local_date,
    o.step_s, o.value, f.finished_at as fetched_at
  from series s
   join observation o on o.series_id = s.id
  left join _fetch f on f.id = o.fetch_id
  join time_zone_offset z on z.zone = s.time_zone and z.from_at = (
      select max(c.from_at) from time_zone_offset c where c.zone = s.time_zone and c.from_at <= o.at
    )`,
  `create view observation_history as select s.id as series_id, s.kind, s.indicator_id,
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
    compat.date(o.at + z.offset_s, 'unixepoch') as local_date,
    o.step_s, o.value, f.finished_at as fetched_at, f.finished_at as valid_from,
    (select n.finished_at from _fetch n where n.id = null) as valid_to
  from series s
   join observation o on o.series_id = s.id
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
    compat.date(o.at + z.offset_s, 'unixepoch') as local_date,
    o.step_s, o.value, f.finished_at as fetched_at, f.finished_at as valid_from,
    (select n.finished_at from _fetch n where n.id = o.superseded_by) as valid_to
  from series s
   join observation_revision o on o.series_id = s.id
  left join _fetch f on f.id = o.fetch_id
  join time_zone_offset z on z.zone = s.time_zone and z.from_at = (
      select max(c.from_at) from time_zone_offset c where c.zone = s.time_zone and c.from_at <= o.at
    )`,
  `create view observations_daily as with clock as materialized (
    select zone, from_at, offset_s, ifnull(strftime('%Y', first_s, 'unixepoch') * 12 + strftime('%m', first_s, 'unixepoch') - 1, 120000) as first_month, ifnull(strftime('%d', first_s, 'unixepoch') + 0, 0) as first_day,
      ifnull(strftime('%Y', end_s, 'unixepoch') * 12 + strftime('%m', end_s, 'unixepoch') - 1, 120000) as end_month, ifnull(strftime('%d', end_s, 'unixepoch') + 0, 0) as end_day
    from (
      select zone, from_at, offset_s, from_at + lag(offset_s, 1, offset_s) over (partition by zone order by from_at) + 86399 as first_s,
        to_at + offset_s + 86399 as end_s
      from time_zone_offset
    ) as unnamed_1
  )
  select p.series_id, p.kind, p.indicator_id, p.indicator_name, p.time_trunc, p.time_agg, p.geo_agg, p.geo_trunc, p.unit,
    p.geo_id, p.geo_name, max(c.from_at, ((365 * ((d.month - 2) / 12) + (d.month - 2) / 48 - (d.month - 2) / 1200 + (d.month - 2) / 4800 + (153 * ((d.month - 2) % 12) + 2) / 5 + d.day - 719469) * 86400) - c.offset_s) as at,
    compat.date(((365 * ((d.month - 2) / 12) + (d.month - 2) / 48 - (d.month - 2) / 1200 + (d.month - 2) / 4800 + (153 * ((d.month - 2) % 12) + 2) / 5 + d.day - 719469) * 86400), 'unixepoch') as local_date, d.count, d.min, d.max,
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
     join series_geo g on g.series_id = s.id
    group by s.id, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, g.geo_id
  ) p
   join clock c on c.zone = p.time_zone and c.end_month >= p.first_month and c.first_month <= p.last_month
   join _day d on d.series_id = p.series_id and d.geo_id = p.geo_id
    and (d.month, d.day) >= (c.first_month, c.first_day) and (d.month, d.day) < (c.end_month, c.end_day)`,
  `create view observations_monthly as select d.series_id, d.kind, d.indicator_id,
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
     join _day d on d.series_id = s.id
    group by s.id, s.kind, s.indicator_id, s.time_trunc, s.time_agg, s.geo_agg, s.geo_trunc, d.geo_id, d.month
  ) d`,
  `create view latest as select s.id as series_id, s.kind, s.indicator_id,
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
    compat.date(o.at + z.offset_s, 'unixepoch') as local_date,
    o.step_s, o.value, f.finished_at as fetched_at
  from series s
   join series_geo g on g.series_id = s.id
   join observation o on o.series_id = g.series_id and o.geo_id = g.geo_id and o.at = (
    select max(l.at) from observation l where l.series_id = g.series_id and l.geo_id = g.geo_id
  )
  left join _fetch f on f.id = o.fetch_id
  join time_zone_offset z on z.zone = s.time_zone and z.from_at = (
      select max(c.from_at) from time_zone_offset c where c.zone = s.time_zone and c.from_at <= o.at
    )`,
  `create view coverage as select h.series_id, h.kind, h.indicator_id, coalesce(
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
      ) c) as unnamed_1 where from_at < border
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
      ) c) as unnamed_2 where border < to_at
          ) q
          window line as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id order by from_at)
        ) m
      ) p
      window island as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id, stretch)
    ) as unnamed_3 where fresh
  ) h`,
  `create view gaps as select h.series_id, h.kind, h.indicator_id, coalesce(
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
          select q.*, lag(q.to_at) over line is distinct from q.from_at or lag(q.reason) over line is distinct from q.reason as fresh
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
          from series s  join _fetch f on f.series_id = s.id where f.outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped') and f.from_at is not null and f.geo_ids is null
          union all
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, g.value, f.from_at, f.to_at, 0, 1, 1
          from series s  join _fetch f on f.series_id = s.id, json_each('[' || f.geo_ids || ']') g where f.outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped') and f.from_at is not null
          union all
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, g.geo_id, f.from_at, f.to_at, 0, 1, g.single
          from series s
          join (select series_id, geo_id, iif(state <> 'doubt' or not exists (
              select 1 from _coverage l where l.series_id = k.series_id and l.geo_id = 0 and l.from_at <= k.from_at and l.to_at >= k.to_at
            ), 1, 0) as single from _coverage k where geo_id <> 0
            union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped') and f.from_at is not null and f.series_id is not null
            union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome = 'coarse' and f.from_at is not null and f.series_id is not null) g on g.series_id = s.id
           join _fetch f on f.series_id = s.id where f.outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped') and f.from_at is not null and f.geo_ids is null
          union all
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, 0, f.from_at, f.to_at, 0, 1, 1
          from series s  join _fetch f on f.series_id = s.id where f.outcome = 'coarse' and f.from_at is not null and f.geo_ids is null
          union all
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, g.value, f.from_at, f.to_at, 0, 1, 1
          from series s  join _fetch f on f.series_id = s.id, json_each('[' || f.geo_ids || ']') g where f.outcome = 'coarse' and f.from_at is not null
          union all
          select s.id as series_id, s.kind, s.indicator_id, s.time_trunc, s.time_zone, g.geo_id, f.from_at, f.to_at, 0, 1, g.single
          from series s
          join (select series_id, geo_id, iif(state <> 'doubt' or not exists (
              select 1 from _coverage l where l.series_id = k.series_id and l.geo_id = 0 and l.from_at <= k.from_at and l.to_at >= k.to_at
            ), 1, 0) as single from _coverage k where geo_id <> 0
            union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome not in ('ok', 'empty', 'coarse', 'too-large', 'stopped') and f.from_at is not null and f.series_id is not null
            union select f.series_id, g.value, 1 from _fetch f, json_each('[' || f.geo_ids || ']') g where f.outcome = 'coarse' and f.from_at is not null and f.series_id is not null) g on g.series_id = s.id
           join _fetch f on f.series_id = s.id where f.outcome = 'coarse' and f.from_at is not null and f.geo_ids is null) b, json_each('[1, -1]') n
              ) e
              window line as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id order by e.from_at), whole as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id)
            ) as unnamed_1
            where covering = 0 and from_at < to_at and to_at > range_from and from_at < range_to
          ) q
          window line as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id order by from_at)
        ) m
      ) p
      window island as (partition by series_id, kind, indicator_id, time_trunc, time_zone, geo_id, stretch)
    ) as unnamed_2 where fresh) as unnamed_3
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
    ) h`,
  `create view freshness as select s.id as series_id, s.kind, s.indicator_id, coalesce(
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
     join series_geo g on g.series_id = s.id
     join observation a on a.series_id = g.series_id and a.geo_id = g.geo_id and a.at = (
      select min(l.at) from observation l where l.series_id = g.series_id and l.geo_id = g.geo_id
    )
     join observation o on o.series_id = g.series_id and o.geo_id = g.geo_id and o.at = (
      select max(l.at) from observation l where l.series_id = g.series_id and l.geo_id = g.geo_id
    )
     join time_zone_offset z on z.zone = s.time_zone and z.from_at = (
      select max(c.from_at) from time_zone_offset c where c.zone = s.time_zone and c.from_at <= o.at
    )`,
  `create view indicator_history as select h.kind, h.id, h.locale, h.name, h.short_name, h.description,
      f.finished_at as valid_from, n.finished_at as valid_to
    from (
      select kind, id, locale, name, short_name, description, fetch_id, null as superseded_by from indicator_text
      union all
      select kind, id, locale, name, short_name, description, fetch_id, superseded_by from indicator_revision
    ) h
    left join _fetch f on f.id = h.fetch_id
    left join _fetch n on n.id = h.superseded_by`,
  `create view news as select c.id, t.locale, t.title, t.summary, t.body_text, t.body, t.permalink, c.published_at, c.updated_at, c.expires_at,
        iif(datetime(c.expires_at) <= datetime('now'), 1, 0) as expired, c.sticky,
        (select group_concat(x.name, ', ') from (select n.name from content_term l join taxonomy_term_text n on n.id = l.term_id and n.locale = t.locale
      where l.kind = c.kind and l.id = c.id order by n.name) x) as terms,
        (select group_concat(x.name, ', ') from (select n.name from content_vocabulary l join vocabulary_text n on n.id = l.vocabulary_id and n.locale = t.locale
      where l.kind = c.kind and l.id = c.id order by n.name) x) as vocabularies,
        c.withdrawn_at
      from content c join content_text t on t.kind = c.kind and t.id = c.id
      where c.kind = 'news'`,
  `create view glossary as select c.id, t.locale, t.title, t.summary, t.body_text, t.body, t.permalink, c.published_at, c.updated_at, c.expires_at,
        iif(datetime(c.expires_at) <= datetime('now'), 1, 0) as expired, c.sticky,
        (select group_concat(x.name, ', ') from (select n.name from content_term l join taxonomy_term_text n on n.id = l.term_id and n.locale = t.locale
      where l.kind = c.kind and l.id = c.id order by n.name) x) as terms,
        (select group_concat(x.name, ', ') from (select n.name from content_vocabulary l join vocabulary_text n on n.id = l.vocabulary_id and n.locale = t.locale
      where l.kind = c.kind and l.id = c.id order by n.name) x) as vocabularies,
        c.withdrawn_at
      from content c join content_text t on t.kind = c.kind and t.id = c.id
      where c.kind = 'glossary'`,
  `create view documentation as select c.id, t.locale, t.title, t.summary, t.body_text, t.body, t.permalink, c.published_at, c.updated_at, c.expires_at,
        iif(datetime(c.expires_at) <= datetime('now'), 1, 0) as expired, c.sticky,
        (select group_concat(x.name, ', ') from (select n.name from content_term l join taxonomy_term_text n on n.id = l.term_id and n.locale = t.locale
      where l.kind = c.kind and l.id = c.id order by n.name) x) as terms,
        (select group_concat(x.name, ', ') from (select n.name from content_vocabulary l join vocabulary_text n on n.id = l.vocabulary_id and n.locale = t.locale
      where l.kind = c.kind and l.id = c.id order by n.name) x) as vocabularies,
        c.withdrawn_at
      from content c join content_text t on t.kind = c.kind and t.id = c.id
      where c.kind = 'documentation'`,
  `create view static_page as select c.id, t.locale, t.title, t.summary, t.body_text, t.body, t.permalink, c.published_at, c.updated_at, c.expires_at,
        iif(datetime(c.expires_at) <= datetime('now'), 1, 0) as expired, c.sticky,
        (select group_concat(x.name, ', ') from (select n.name from content_term l join taxonomy_term_text n on n.id = l.term_id and n.locale = t.locale
      where l.kind = c.kind and l.id = c.id order by n.name) x) as terms,
        (select group_concat(x.name, ', ') from (select n.name from content_vocabulary l join vocabulary_text n on n.id = l.vocabulary_id and n.locale = t.locale
      where l.kind = c.kind and l.id = c.id order by n.name) x) as vocabularies,
        c.withdrawn_at
      from content c join content_text t on t.kind = c.kind and t.id = c.id
      where c.kind = 'static_page'`,
  `create view content_history as select v.kind, v.id, v.locale, v.title, v.summary, v.body, f.finished_at as valid_from, n.finished_at as valid_to
    from (
      select kind, id, locale, title, summary, body, fetch_id, null as superseded_by from content_text
      union all
      select kind, id, locale, title, summary, body, fetch_id, superseded_by from content_revision
    ) v
    left join _fetch f on f.id = v.fetch_id
    left join _fetch n on n.id = v.superseded_by`,
  `create view archive_publications as select e.kind, e.id, (select t.name from archive_text t where t.kind = e.kind and t.id = e.id and t.name is not null order by t.locale = 'es' desc, t.locale limit 1) as name,
      a.archive_type, a.horizon, e.date,
      json_extract(e.date_times, '$[0]') as about_from, json_extract(e.date_times, '$[#-1]') as about_to,
      json_extract(e.publication_dates, '$[0]') as published_from, json_extract(e.publication_dates, '$[#-1]') as published_to,
      e.url, e.first_seen_at, f.path, f.bytes, f.sha256
    from archive_edition e
    join archive a on a.kind = e.kind and a.id = e.id
    left join archive_file f on f.url = e.url`,
  `create view texts as select i.id, i.kind, i.item_id, i.locale, coalesce(n.name, c.title, a.name) as name,
      coalesce(n.short_name, c.summary) as more, coalesce(n.description_text, c.body_text, a.description) as text
    from search_item i
    left join indicator_text n on n.kind = i.kind and n.id = i.item_id and n.locale = i.locale
    left join content_text c on c.kind = i.kind and c.id = i.item_id and c.locale = i.locale
    left join archive_text a on a.kind = i.kind and a.id = i.item_id and a.locale = i.locale`,
  `create view runs as select id, command, job, started_at, finished_at,
      compat.round((julianday(finished_at) - julianday(started_at)) * 86400, 3) as seconds,
      outcome, requests, failed, bytes, rows_new, rows_unchanged, rows_revised, rows_withdrawn, rows_rejected, message
    from _run
    order by id desc`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...COMPAT, ...TABLES, ...KEYS, ...INDEXES, ...PARTITIONS, ...TEXTS, ...VIEWS])
    await sql.raw(statement).execute(db)
}
