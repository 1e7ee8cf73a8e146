import type { Reader, Store } from '../db/open.ts'
import { bearIndicator } from './series.ts'

/** What happened and what was learned of the service: no reply tells it, so it is taken over as it is. */
const HAPPENED = ['_run', '_fetch', '_reply', '_quarantine', '_budget', 'time_zone_offset'] as const

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

/** Makes the series of another database anew, each when its time comes, so that everything is first seen when it was. */
export function createMidwife(source: Reader, store: Store): { upTo(moment: string | null): void } {
  const series = source.all('select * from series order by created_at, id') as SeriesRow[]
  let next = 0
  return {
    upTo(moment) {
      for (; next < series.length; next++) {
        const row = series[next]!
        if (moment !== null && row.created_at > moment) return
        bearIndicator(store, row.kind, row.indicator_id, row.created_at)
        const columns = Object.keys(row)
        store.run(`insert into series (${columns}) values (${columns.map(() => '?')})`, Object.values(row))
      }
    },
  }
}

/** Takes over what was learned of the resolutions of series that exist by now. */
export function takeResolutions(source: Reader, store: Store): void {
  for (const row of source.rows('select series_id, from_at, step_s from _resolution'))
    store.run('insert into _resolution (series_id, from_at, step_s) values (?, ?, ?)', row)
}
