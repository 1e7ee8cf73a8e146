import type { Reader, Store } from '../db/open.ts'
import { insertIndicator } from './series.ts'

/** What happened and what was learned of the service: no reply tells it, so it is taken over as it is. */
const HAPPENED = [
  ...['_run', '_fetch', '_reply', '_quarantine', '_budget', '_source', 'time_zone_offset', 'archive_file'],
  // Who writes, for the rebuilt database may take the place of the other one while it does.
  ...['_lock', '_fence'],
] as const

/** Takes over the records of another database of the same schema into an empty one. */
export async function takeRecords(store: Store, file: string): Promise<void> {
  store.run('attach database ? as source', [file])
  try {
    await store.write(async () => {
      for (const table of HAPPENED) store.run(`insert into ${table} select * from source.${table}`, [])
    })
  } finally {
    store.run('detach database source', [])
  }
}

interface SeriesRow {
  readonly id: number
  readonly kind: string
  readonly indicator_id: number
  readonly created_at: string
}

/** Makes the series of another database anew, each when it was first asked for, so that everything is first seen when it was. */
export function createSeriesRestorer(source: Reader, store: Store): { upTo(fetchId: number): void } {
  const series = source.all('select * from series order by id') as SeriesRow[]
  const columns = Object.keys(series[0] ?? {})
  const insert = `insert into series (${columns}) values (${columns.map(() => '?')})`
  const firstFetch = (row: SeriesRow): number =>
    (source.get('select min(id) from _fetch where series_id = ?', [row.id]) as number | null) ??
    Number.POSITIVE_INFINITY
  const births = series.map((row) => ({ row, at: firstFetch(row) })).sort((a, b) => a.at - b.at)
  let next = 0
  return {
    upTo(fetchId) {
      for (; next < births.length && births[next]!.at <= fetchId; next++) {
        const { row } = births[next]!
        insertIndicator(store, row.kind, row.indicator_id, row.created_at)
        // The lookbacks of its answers make it what it was, one after the other.
        store.run(insert, Object.values({ ...row, lookback_s: null }))
      }
    },
  }
}

/** Takes over what was learned of series that exist by now, and what is wanted of them. */
export function takeLearned(source: Reader, store: Store): void {
  for (const row of source.rows('select series_id, from_at, step_s from _resolution'))
    store.run('insert into _resolution (series_id, from_at, step_s) values (?, ?, ?)', row)
  for (const row of source.rows('select series_id, job, entry, geo_ids, from_at, to_at from _wanted'))
    store.run('insert into _wanted (series_id, job, entry, geo_ids, from_at, to_at) values (?, ?, ?, ?, ?, ?)', row)
}

/** Tables whose rows say when they were first seen, and what names a row. */
const SEEN = {
  indicator: ['kind', 'id'],
  content: ['kind', 'id'],
  archive: ['kind', 'id'],
  archive_edition: ['kind', 'id', 'date', 'date_times', 'publication_dates'],
  widget: ['id'],
} as const

/** Takes over when everything was first seen: a reply store with holes may hold only later replies that told of it. */
export async function takeFirstSeen(store: Store, file: string): Promise<void> {
  store.run('attach database ? as source', [file])
  try {
    await store.write(async () => {
      for (const [table, key] of Object.entries(SEEN)) {
        const same = key.map((column) => `o.${column} = ${table}.${column}`).join(' and ')
        const first = `(select min(o.first_seen_at, ${table}.first_seen_at) from source.${table} o where ${same})`
        store.run(`update ${table} set first_seen_at = ${first} where first_seen_at > ${first}`, [])
      }
    })
  } finally {
    store.run('detach database source', [])
  }
}
