import type { Store } from '../../db/store.ts'
import type { Expectation } from '../../job/expectation.ts'
import type { Service } from '../../service/service.ts'
import type { Instant } from '../../util/time/instant.ts'
import { deriveTimelines } from './deriveTimelines.ts'

/**
 * Judges those series again of which jobs expect something else than before. If several jobs expect something of a series, the first one
 * decides.
 */
export async function applyExpectations(store: Store, service: Service, now: Instant): Promise<void> {
  const rows = await store.kysely
    .selectFrom('series as s')
    .leftJoin('_duty as d', (join) => join.onRef('d.series_id', '=', 's.id').on('d.expect', 'is not', null))
    .select(['s.id', 's.expect as before', 'd.expect'])
    .where((eb) => eb.or([eb('s.expect', 'is not', null), eb('d.expect', 'is not', null)]))
    .orderBy('s.id')
    .orderBy('d.job_id')
    .execute()
  for (const [seriesId, [first]] of Map.groupBy(rows, ({ id }) => id)) {
    const expect = first!.expect as Expectation | null
    if (expect === first!.before) continue
    await store.write(async (tx) => {
      await tx.updateTable('series').set({ expect }).where('id', '=', seriesId).execute()
      await deriveTimelines(tx, store.engine, seriesId, service, now)
    })
  }
}
