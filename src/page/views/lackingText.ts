import { jobFile } from '../../db/queries/jobRuns.ts'
import type { LackingGeos } from '../../findings/trouble.ts'
import { groupingText } from '../formats.ts'
import { type Html, html } from '../html.ts'
import type { PageRequest } from '../page.ts'
import type { Overview } from '../queries/overviewData.ts'

/** The most indicators without values that are listed. */
const MAX_LACKING = 8
/** Describes geos without any value, and what to correct in the job. */
export function lackingText(
  { indicator_id, time_trunc, geo_agg, geoIds, stored, elsewhere, job }: LackingGeos,
  jobFiles: Overview['jobFiles'],
  request: PageRequest,
): Html {
  const { home } = request.words
  const grouping = groupingText(request, time_trunc, geo_agg)
  const id = `${indicator_id}${grouping && ` (${grouping})`}`
  const file = jobFile(jobFiles, job ?? '')
  const [first, others] = stored.length > 0 ? [stored, home.otherGeos] : [elsewhere, home.otherSeries]
  const geos = first.slice(0, MAX_LACKING).map(({ id, name }) => [id, name].filter(Boolean).join(' '))
  const text =
    geoIds.length === 0 ? home.findings['no values'](id, file) : home.findings.geo(id, geoIds.join(', '), file)
  return html`${text}${geos.length > 0 && ` ${others(geos.join(', '))}`}`
}
