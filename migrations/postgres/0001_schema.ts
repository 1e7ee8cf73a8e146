import { type Kysely, sql } from 'kysely'
import { createTable, foreignKeys, INDEXES, SEARCHED_TEXTS, TEXT_HISTORIES } from '../../src/db/tables/ddl.ts'
import { TABLE_NAMES, VIEWS } from '../../src/db/tables/schema.ts'
import type { DatabaseView } from '../../src/db/tables/sql/views.ts'

/** Functions of SQLite that PostgreSQL lacks, as far as views, recipes and statements use them. */
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
  `create function compat.date(bigint, text) returns text language sql stable parallel safe as $$
  select to_char(compat.as_time($1), 'YYYY-MM-DD') $$`,
  `create function compat.date(text) returns text language sql stable parallel safe as $$
  select to_char(compat.as_time($1), 'YYYY-MM-DD') $$`,
  `create function compat.datetime(text) returns text language sql stable parallel safe as $$
  select to_char(compat.as_time($1), 'YYYY-MM-DD HH24:MI:SS') $$`,
  `create function compat.epoch_of(timestamp) returns bigint language sql immutable parallel safe as $$
  select floor(extract(epoch from $1))::bigint $$`,
  ...['text, bigint, text', 'text, text'].map(
    (parameters) => `create function compat.strftime(${parameters}) returns text language sql stable parallel safe as $$
  select case $1 when '%s' then compat.epoch_of(compat.as_time($2))::text when '%w' then extract(dow from compat.as_time($2))::text
    when '%j' then to_char(compat.as_time($2), 'DDD') else to_char(compat.as_time($2), compat.to_format($1)) end $$`,
  ),
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
  `create function compat.unixepoch(timestamptz) returns bigint language sql immutable parallel safe as $$
  select floor(extract(epoch from $1))::bigint $$`,
  `create function compat.strftime(text, date) returns text language sql stable parallel safe as $$ select compat.strftime($1, $2::text) $$`,
  `create function compat.substr(date, integer, integer) returns text language sql stable parallel safe as $$
  select substr(to_char($1, 'YYYY-MM-DD'), $2, $3) $$`,
  `create function compat.substr(timestamp, integer, integer) returns text language sql stable parallel safe as $$
  select substr(to_char($1, 'YYYY-MM-DD"T"HH24:MI:SS'), $2, $3) $$`,
  // SQLite compares these columns with text.
  ...['date', 'timestamptz'].flatMap((type) =>
    Object.entries({ less: '<', at_most: '<=', at_least: '>=', more: '>' }).flatMap(([name, operator]) => [
      `create function compat.${name}(${type}, text) returns boolean language sql stable parallel safe as $$ select $1 ${operator} $2::${type} $$`,
      `create operator compat.${operator} (leftarg = ${type}, rightarg = text, function = compat.${name})`,
    ]),
  ),
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

/** Columns of views that have another type here, each with its conversion from text. */
const TYPED_COLUMNS: Readonly<Record<string, string>> = {
  at_utc: 'to_timestamp(at)',
  local_date: 'local_date::date',
  valid_from: 'valid_from::timestamptz',
  valid_to: 'valid_to::timestamptz',
  // Products of steps need more than 32 bits.
  step_s: 'step_s::bigint',
}

export function viewSql({ columns, sql: text, postgres = text }: DatabaseView): string {
  const names = Object.keys(columns)
  // `cross join … on` fixes the order of tables for SQLite only.
  const view = postgres.replaceAll('cross join', 'join')
  if (!names.some((name) => name in TYPED_COLUMNS)) return view
  const typed = names.map((name) => (TYPED_COLUMNS[name] ? `${TYPED_COLUMNS[name]} as ${name}` : name))
  return `select ${typed.join(', ')} from (${view}) v`
}

/** Bodies of replies are compressed already. */
const STORAGE = ['alter table _reply alter column body set storage external']

/** Values by the year in which their periods begin; earlier and later ones have one partition each. */
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

const differs = (columns: readonly string[]): string =>
  columns.map((column) => `old.${column} is distinct from new.${column}`).join(' or ')

/** Moves the old version of a text to its history. A row without any text is no version. */
const keepVersions = (
  table: string,
  { history, columns }: (typeof TEXT_HISTORIES)[keyof typeof TEXT_HISTORIES],
): string[] => [
  `create function ${table}_revised() returns trigger language plpgsql as $$ begin
      insert into ${history} (kind, id, locale, fetch_id, ${columns.join(', ')}, superseded_by)
      values (old.kind, old.id, old.locale, old.fetch_id, ${columns.map((column) => `old.${column}`).join(', ')}, new.fetch_id);
      return null;
    end $$`,
  `create trigger ${table}_revised after update on ${table} for each row
    when (coalesce(${columns.map((column) => `old.${column}`).join(', ')}) is not null and (${differs(columns)}))
    execute function ${table}_revised()`,
]

/** Indexes the words of a text, without accents and in lower case. A text that changes keeps its number in the index, as in SQLite. */
const indexWords = (table: string, columns: readonly string[]): string[] => [
  `create function ${table}_found() returns trigger language plpgsql as $$ begin
      if tg_op = 'DELETE' then
        delete from search_item where kind = old.kind and item_id = old.id and locale = old.locale;
        return null;
      end if;
      if tg_op = 'INSERT' then
        insert into search_item (kind, item_id, locale) values (new.kind, new.id, new.locale) on conflict do nothing;
      end if;
      insert into search (id, words)
      select id, compat.words_of(${columns.map((column) => `coalesce(new.${column}, '')`).join(" || ' ' || ")})
      from search_item where kind = new.kind and item_id = new.id and locale = new.locale
      on conflict (id) do update set words = excluded.words;
      return null;
    end $$`,
  `create trigger ${table}_found after insert or delete on ${table} for each row execute function ${table}_found()`,
  `create trigger ${table}_found_again after update on ${table} for each row
      when (${differs(columns)})
      execute function ${table}_found()`,
]

const SEARCH = [
  'create extension if not exists unaccent schema compat',
  `create function compat.words_of(text) returns tsvector language sql stable parallel safe
    set search_path = compat, public, pg_catalog as $$
      select coalesce(array_to_tsvector(array(
        select distinct left(word, 500) from regexp_split_to_table(lower(unaccent($1)), '[^a-z0-9\\u0080-\\U0010ffff]+') word where word <> ''
      )), '') $$`,
  'create table search (id bigint primary key references search_item (id) on delete cascade, words tsvector not null)',
  'create index search_words on search using gin (words)',
]

/** The pace that all processes of a database share. */
const CLUSTER = [
  'create table _host (host text collate "C" primary key, next_at bigint not null, outage_at bigint not null default 0)',
]

/** The whole schema: `src/db/tables` declares tables, indexes and views; the rest is what only PostgreSQL needs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    ...COMPAT,
    ...TABLE_NAMES.map(
      (name) => createTable(name, 'postgres') + (name === 'observation' ? ' partition by range (at)' : ''),
    ),
    ...TABLE_NAMES.flatMap(foreignKeys),
    ...STORAGE,
    ...INDEXES,
    ...PARTITIONS,
    ...SEARCH,
    ...Object.entries(TEXT_HISTORIES).flatMap(([table, history]) => keepVersions(table, history)),
    ...Object.entries(SEARCHED_TEXTS).flatMap(([table, columns]) =>
      indexWords(
        table,
        columns.filter((column) => column !== null),
      ),
    ),
    ...Object.entries<DatabaseView>(VIEWS).map(([name, view]) => `create view ${name} as ${viewSql(view)}`),
    ...CLUSTER,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
