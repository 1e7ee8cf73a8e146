import { _run, search_item } from '../bookkeeping.ts'
import { archive, archive_edition, content, content_text } from '../content.ts'
import { flag, integer, moment, optional, pick, real, text } from '../declare.ts'
import { indicator_text } from '../indicator.ts'
import { localeOrderSql } from './expressions.ts'

const CONTENT_COLUMNS = {
  ...pick(content, 'id'),
  ...pick(content_text, 'locale', 'title', 'summary', 'body_text', 'body', 'permalink'),
  ...pick(content, 'published_at', 'updated_at', 'expires_at'),
  expired: flag('1 if expired'),
  ...pick(content, 'sticky'),
  terms: optional(text('Terms in this language, comma-separated')),
  vocabularies: optional(text('Vocabularies in this language, comma-separated')),
  withdrawn_at: optional(text('First found missing from a complete listing; NULL while listed')),
}

/** When a version of a text was valid. */
const VERSION_COLUMNS = {
  valid_from: optional(moment('Time at which this version became known')),
  valid_to: optional(text('Time at which it was replaced or withdrawn; NULL = current')),
}

const INDICATOR_HISTORY = `select h.kind, h.id, h.locale, h.name, h.short_name, h.description,
      f.finished_at as valid_from, n.finished_at as valid_to
    from (
      select kind, id, locale, name, short_name, description, fetch_id, null as superseded_by from indicator_text
      union all
      select kind, id, locale, name, short_name, description, fetch_id, superseded_by from indicator_revision
    ) h
    left join _fetch f on f.id = h.fetch_id
    left join _fetch n on n.id = h.superseded_by`

/** The names of the terms or vocabularies of an item in the language of a text, comma-separated. */
const names = (table: 'term' | 'vocabulary', text: string): string =>
  `(select group_concat(x.name, ', ') from (select n.name from content_${table} l join ${text} n on n.id = l.${table}_id and n.locale = t.locale
      where l.kind = c.kind and l.id = c.id order by n.name) x)`

const contentSql = (
  kind: string,
): string => `select c.id, t.locale, t.title, t.summary, t.body_text, t.body, t.permalink, c.published_at, c.updated_at, c.expires_at,
        iif(datetime(c.expires_at) <= datetime('now'), 1, 0) as expired, c.sticky,
        ${names('term', 'taxonomy_term_text')} as terms,
        ${names('vocabulary', 'vocabulary_text')} as vocabularies,
        c.withdrawn_at
      from content c join content_text t on t.kind = c.kind and t.id = c.id
      where c.kind = '${kind}'`

const CONTENT_HISTORY = `select v.kind, v.id, v.locale, v.title, v.summary, v.body, f.finished_at as valid_from, n.finished_at as valid_to
    from (
      select kind, id, locale, title, summary, body, fetch_id, null as superseded_by from content_text
      union all
      select kind, id, locale, title, summary, body, fetch_id, superseded_by from content_revision
    ) v
    left join _fetch f on f.id = v.fetch_id
    left join _fetch n on n.id = v.superseded_by`

const ARCHIVE_PUBLICATIONS = `select e.kind, e.id, (select t.name from archive_text t where t.kind = e.kind and t.id = e.id and t.name is not null order by ${localeOrderSql('t.locale')} limit 1) as name,
      a.archive_type, a.horizon, e.date,
      json_extract(e.date_times, '$[0]') as about_from, json_extract(e.date_times, '$[#-1]') as about_to,
      json_extract(e.publication_dates, '$[0]') as published_from, json_extract(e.publication_dates, '$[#-1]') as published_to,
      e.url, e.first_seen_at, f.path, f.bytes, f.sha256
    from archive_edition e
    join archive a on a.kind = e.kind and a.id = e.id
    left join archive_file f on f.url = e.url`

const TEXTS_VIEW = `select i.id, i.kind, i.item_id, i.locale, coalesce(n.name, c.title, a.name) as name,
      coalesce(n.short_name, c.summary) as more, coalesce(n.description_text, c.body_text, a.description) as text
    from search_item i
    left join indicator_text n on n.kind = i.kind and n.id = i.item_id and n.locale = i.locale
    left join content_text c on c.kind = i.kind and c.id = i.item_id and c.locale = i.locale
    left join archive_text a on a.kind = i.kind and a.id = i.item_id and a.locale = i.locale`

const RUNS_VIEW = `select id, command, job, started_at, finished_at,
      round((julianday(finished_at) - julianday(started_at)) * 86400, 3) as seconds,
      outcome, requests, failed, bytes, rows_new, rows_unchanged, rows_revised, rows_withdrawn, rows_rejected, message, code
    from _run
    order by id desc`

/** Views on texts, archives and runs. */
export const TEXT_VIEWS = {
  indicator_history: {
    about: "All versions of indicators' texts, in every language.",
    columns: {
      ...pick(indicator_text, 'kind', 'id', 'locale', 'name', 'short_name', 'description'),
      ...VERSION_COLUMNS,
    },
    sql: INDICATOR_HISTORY,
  },
  news: { about: 'News in every language.', columns: CONTENT_COLUMNS, sql: contentSql('news') },
  glossary: { about: 'Glossary entries in every language.', columns: CONTENT_COLUMNS, sql: contentSql('glossary') },
  documentation: {
    about: 'Documentation in every language.',
    columns: CONTENT_COLUMNS,
    sql: contentSql('documentation'),
  },
  static_page: { about: 'Static pages in every language.', columns: CONTENT_COLUMNS, sql: contentSql('static_page') },
  content_history: {
    about: "All versions of items' texts, in every language.",
    columns: { ...pick(content_text, 'kind', 'id', 'locale', 'title', 'summary', 'body'), ...VERSION_COLUMNS },
    sql: CONTENT_HISTORY,
  },
  archive_publications: {
    about: 'Published editions of archives.',
    columns: {
      ...pick(archive_edition, 'kind', 'id'),
      name: optional(text('Name, in the preferred language if stored (setting)')),
      ...pick(archive, 'archive_type', 'horizon'),
      ...pick(archive_edition, 'date'),
      about_from: optional(text('First day covered')),
      about_to: optional(text('Last day covered')),
      published_from: optional(text('First publication day')),
      published_to: optional(text('Last publication day')),
      ...pick(archive_edition, 'url', 'first_seen_at'),
      path: optional(text('Path relative to the downloads folder; NULL if not downloaded')),
      bytes: optional(integer('Size')),
      sha256: optional(text('SHA-256, hex')),
    },
    sql: ARCHIVE_PUBLICATIONS,
  },
  texts: {
    about: 'Searchable texts: join to `search` by rowid = id.',
    columns: {
      id: integer('Id in the index (search.rowid)'),
      ...pick(search_item, 'kind', 'item_id', 'locale'),
      name: optional(text('Name or title')),
      more: optional(text('Short name or summary')),
      text: optional(text('Description or body as plain text')),
    },
    sql: TEXTS_VIEW,
  },
  runs: {
    about: 'Runs, latest first.',
    columns: {
      id: integer('Id'),
      ...pick(_run, 'command', 'job', 'started_at', 'finished_at'),
      seconds: optional(real('Duration')),
      ...pick(_run, 'outcome', 'requests', 'failed', 'bytes', 'rows_new', 'rows_unchanged', 'rows_revised'),
      ...pick(_run, 'rows_withdrawn', 'rows_rejected', 'message', 'code'),
    },
    sql: RUNS_VIEW,
  },
} as const
