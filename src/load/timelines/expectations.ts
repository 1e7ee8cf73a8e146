import type { Store } from '../../db/store.ts'
import type { Expectation } from '../../job/expectation.ts'
import type { Service } from '../../service/service.ts'
import { judgeSeries } from './judgeStored.ts'

/** A stored series, and what its jobs expect of it. */
export interface ExpectedSeries {
  readonly seriesId: number
  readonly expect: Expectation | null
}

/** Stores what a job expects of its series, and judges those again of which it expects something else than before. */
export async function storeExpectations(
  store: Store,
  service: Service,
  expected: readonly ExpectedSeries[],
): Promise<void> {
  const rows = await store.kysely.selectFrom('series').select(['id', 'expect']).execute()
  const stored = new Map(rows.map(({ id, expect }) => [id, expect]))
  for (const { seriesId, expect } of expected) {
    if (!stored.has(seriesId) || stored.get(seriesId) === expect) continue
    await store.write(async (tx) => {
      await tx.updateTable('series').set({ expect }).where('id', '=', seriesId).execute()
      await judgeSeries(tx, store.engine, seriesId, service)
    })
  }
}
