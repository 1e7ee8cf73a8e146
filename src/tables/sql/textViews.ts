import { ARCHIVE_KIND, CONTENT_KIND, INDICATOR_KIND, SEARCHED_KIND } from '../declare.ts'
import { localeOrderSql } from './sql.ts'

const CONTENT = {
  id: 'The number that the service gives it',
  locale: 'The language, such as es',
  title: 'Its title',
  summary: 'Its summary',
  body_text: 'Its body as plain text',
  body: 'Its body, HTML as it came',
  permalink: "Its path on the service's site",
  published_at: 'When it was published, as it came (ISO 8601 with offset)',
  updated_at: 'When it was last changed, as it came',
  expires_at: 'When it leaves the listing, as it came',
  expired: '1 when that is over',
  sticky: '1 when it is kept on top',
  terms: 'The terms that it is filed under, in its language, separated by commas',
  vocabularies: 'The vocabularies that it is filed under, in its language, separated by commas',
  withdrawn_at: 'When a complete listing no longer held it; NULL while it is listed',
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

/** What an item is filed under, in the language of a text, joined by commas. */
const filed = (table: 'term' | 'vocabulary', text: string): string =>
  `(select group_concat(x.name, ', ') from (select n.name from content_${table} l join ${text} n on n.id = l.${table}_id and n.locale = t.locale
      where l.kind = c.kind and l.id = c.id order by n.name) x)`

const contentOf = (
  kind: string,
): string => `select c.id, t.locale, t.title, t.summary, t.body_text, t.body, t.permalink, c.published_at, c.updated_at, c.expires_at,
        iif(datetime(c.expires_at) <= datetime('now'), 1, 0) as expired, c.sticky,
        ${filed('term', 'taxonomy_term_text')} as terms,
        ${filed('vocabulary', 'vocabulary_text')} as vocabularies,
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
      outcome, requests, failed, bytes, rows_new, rows_unchanged, rows_revised, rows_withdrawn, rows_rejected, message
    from _run
    order by id desc`

/** Views on texts, archives and runs. */
export const TEXT_VIEWS = {
  indicator_history: {
    about:
      'Every version of the texts of every indicator, in every language: what was known at each moment. A text that came later than the others is NULL in the version before.',
    columns: {
      kind: INDICATOR_KIND,
      id: 'The indicator (indicator.id)',
      locale: 'The language, such as es',
      name: 'Its name',
      short_name: 'Its short name',
      description: 'Its description, HTML as it came',
      valid_from: 'Since when it was known here (UTC, ISO 8601 to the millisecond)',
      valid_to: 'Until when; NULL for the current version',
    },
    sql: INDICATOR_HISTORY,
  },
  news: { about: 'Every news item, in every language.', columns: CONTENT, sql: contentOf('news') },
  glossary: { about: 'Every entry of the glossary, in every language.', columns: CONTENT, sql: contentOf('glossary') },
  documentation: {
    about: 'Every documentation, in every language.',
    columns: CONTENT,
    sql: contentOf('documentation'),
  },
  static_page: { about: 'Every static page, in every language.', columns: CONTENT, sql: contentOf('static_page') },
  content_history: {
    about:
      'Every version of the texts of content, in every language: what was known at each moment. A text that came later than the others is NULL in the version before.',
    columns: {
      kind: CONTENT_KIND,
      id: 'The item (content.id)',
      locale: 'The language, such as es',
      title: 'Its title',
      summary: 'Its summary',
      body: 'Its body, HTML as it came',
      valid_from: 'Since when it was known here (UTC, ISO 8601 to the millisecond)',
      valid_to: 'Until when; NULL for the current version',
    },
    sql: CONTENT_HISTORY,
  },
  archive_publications: {
    about: 'What was published when: every edition of every archive.',
    columns: {
      kind: ARCHIVE_KIND,
      id: 'The archive (archive.id)',
      name: 'Its name, in the first language where held',
      archive_type: 'zip, xls, xml, pdf, csv or json',
      horizon: 'How long a time one edition is about: D M A H S T QM O NA',
      date: 'The day the entry was listed for, YYYY-MM-DD',
      about_from: 'The first day the edition is about',
      about_to: 'The last day the edition is about',
      published_from: 'The day it was first published',
      published_to: 'The day it was last published',
      url: 'Where the file is to be had, as it came: relative to the service',
      first_seen_at: 'When it was first seen here (UTC, ISO 8601 to the millisecond)',
      path: 'The path of the downloaded file below the folder of downloads; NULL when it was not downloaded',
      bytes: 'Its size',
      sha256: 'Its checksum, hex',
    },
    sql: ARCHIVE_PUBLICATIONS,
  },
  texts: {
    about: 'Every text that the search knows: join it to `search` by rowid = id.',
    columns: {
      id: 'Its number in the index (search.rowid)',
      kind: SEARCHED_KIND,
      item_id: 'The indicator, item or archive',
      locale: 'The language, such as es',
      name: 'Its name or title',
      more: 'Its short name or summary',
      text: 'Its description or body as plain text',
    },
    sql: TEXTS_VIEW,
  },
  runs: {
    about: 'What ran, the latest first.',
    columns: {
      id: 'Its number',
      command: 'sync, backfill, retry …',
      job: 'The name of the job',
      started_at: 'When it began',
      finished_at: 'When it ended',
      seconds: 'How long it took',
      outcome: 'running, done, partial, stopped or failed',
      requests: 'Requests',
      failed: 'Requests that failed for good',
      bytes: 'Bytes of the answers',
      rows_new: 'Rows that were not there before, or in which only empty columns were filled',
      rows_unchanged: 'Rows that were there and equal',
      rows_revised: 'Rows that were there and changed',
      rows_withdrawn: 'Values that the service no longer has',
      rows_rejected: 'Rows in quarantine',
      message: 'Why it stopped',
    },
    sql: RUNS_VIEW,
  },
} as const
