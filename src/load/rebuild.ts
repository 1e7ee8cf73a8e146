import type { Reader, Store } from '../db/open.ts'
import { bearIndicator } from './series.ts'

/** What happened and what was learned of the service: no reply tells it, so it is taken over as it is. */
const HAPPENED = ['_run', '_fetch', '_reply', '_quarantine', '_budget', 'time_zone_offset', 'archive_file'] as const

/** Takes over the records of another database of the same schema into an empty one. */
export async function takeRecords(store: Store, file: string): Promise<void> {
  store.run('attach database ? as tape', [file])
  try {
    await store.write(async () => {
      for (const table of HAPPENED) store.run(`insert into ${table} select * from tape.${table}`, [])
    })
  } finally {
    store.run('detach database tape', [])
  }
}

interface SeriesRow {
  readonly id: number
  readonly kind: string
  readonly indicator_id: number
  readonly created_at: string
}

/** Makes the series of another database anew, each when it was first asked for, so that everything is first seen when it was. */
export function createMidwife(source: Reader, store: Store): { upTo(fetchId: number): void } {
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
        bearIndicator(store, row.kind, row.indicator_id, row.created_at)
        store.run(insert, Object.values(row))
      }
    },
  }
}

/** Takes over what was learned of the resolutions of series that exist by now. */
export function takeResolutions(source: Reader, store: Store): void {
  for (const row of source.rows('select series_id, from_at, step_s from _resolution'))
    store.run('insert into _resolution (series_id, from_at, step_s) values (?, ?, ?)', row)
}
