import type { Reader } from '../../db/store.ts'
import { seriesName } from '../../reports/seriesName.ts'
import type { Instant } from '../../util/time/instant.ts'
import { syncCommand } from '../commands.ts'
import type { KindRules } from '../kindRules.ts'
import { findLackingGeos, lackingGeosText } from '../readers/lackingGeos.ts'
import type { Trouble } from '../trouble.ts'

/** Finds series and geos without values. */
async function findLacking(db: Reader, now: Instant): Promise<Trouble[]> {
  return (await findLackingGeos(db, now)).map(
    (lacking): Trouble => ({
      kind: lacking.geoIds.length === 0 ? 'no values' : 'geo',
      lacking,
      sinceAt: lacking.sinceAt,
      jobIds: lacking.jobId === null ? [] : [lacking.jobId],
      seriesIds: [lacking.series_id],
      cause: null,
    }),
  )
}

const rules: KindRules<'geo' | 'no values'> = {
  find: findLacking,
  subject: ({ lacking }) => seriesName(lacking),
  geoIds: ({ lacking }) => lacking.geoIds,
  message({ lacking }, { listNames }) {
    const fix = lacking.job === null ? 'the job' : `job ${lacking.job}`
    return `${lackingGeosText(lacking, listNames)} Unless they are still to come, correct ${fix}, then run the job`
  },
  // The command helps after somebody has corrected the job.
  command: ({ jobIds }, facts) => syncCommand(facts, jobIds[0]),
}

/** Selected geos of a series never had a value. */
export const geo: KindRules<'geo'> = rules
/** A series never had a value. */
export const noValues: KindRules<'no values'> = rules
