import type { NamedSeries } from '../../db/engine.ts'
import type { Reader } from '../../db/store.ts'
import { seriesName } from '../../reports/seriesName.ts'
import { quantity } from '../../util/text.ts'
import { floorToSecond } from '../../util/time/instant.ts'
import { QUARANTINE_COMMAND } from '../commands.ts'
import { areWithin } from '../consequences.ts'
import type { KindRules } from '../kindRules.ts'
import { countRejects, readOpenRejects } from '../openRejects.ts'
import type { RejectedReply, Trouble } from '../trouble.ts'

/** Finds data that could not be parsed: all open entries of one series or listing that have reasons of one kind. */
async function findQuarantineTroubles(db: Reader): Promise<Trouble[]> {
  return [...Map.groupBy(await readOpenRejects(db), ({ key }) => key).values()].map((entries): Trouble => {
    const first = entries[0]!
    const { fetch_id, run_id, target, path, reason } = entries.at(-1)!
    const { series_id, kind, indicator_id, time_trunc, geo_agg } = first
    const reply: RejectedReply = {
      fetchId: fetch_id,
      runId: run_id,
      target,
      path,
      reason,
      series: series_id === null ? null : ({ series_id, kind, indicator_id, time_trunc, geo_agg } as NamedSeries),
      entryId: first.id,
      entries: countRejects(entries),
      replies: new Set(entries.map((entry) => entry.fetch_id)).size,
    }
    return {
      kind: 'quarantine',
      reply,
      sinceAt: floorToSecond(first.finished_at),
      jobIds: [...new Set(entries.flatMap(({ job_id }) => job_id ?? []))],
      seriesIds: series_id === null ? [] : [series_id],
      cause: null,
    }
  })
}

/** The command that dismisses rejects of one series or listing. */
const dismissCommand = ({ entryId }: RejectedReply): string => `quarantine dismiss ${entryId} --alike --reason "known"`

/** The series or listing of rejects. */
const rejectedSubject = ({ series, target }: RejectedReply): string => (series === null ? target : seriesName(series))

/** Data of one series or listing could not be parsed. */
export const quarantine: KindRules<'quarantine'> = {
  find: findQuarantineTroubles,
  subject: ({ reply }) => rejectedSubject(reply),
  geoIds: null,
  message({ reply }, { toCommand }) {
    const { entries, replies, path, reason } = reply
    const count = quantity(entries, 'rejected row or field', 'rejected rows or fields')
    const list = `\`${toCommand(QUARANTINE_COMMAND)}\` lists them`
    const fix =
      replies > 1
        ? `Requesting them again did not help. ${list}; dismiss them if the service does not correct them`
        : `Another response may be valid. ${list}; if they stay invalid: \`${toCommand(dismissCommand(reply))}\``
    return `${rejectedSubject(reply)}: ${count}${replies > 1 ? ` in ${replies} responses` : ''}, such as ${path}: ${reason}. ${fix}`
  },
  command({ reply, seriesIds }, { unverified }) {
    // Another reply may be valid. If a second one was not, a third will not be either.
    if (reply.replies > 1) return dismissCommand(reply)
    return seriesIds.some((id) => unverified.has(id)) ? 'retry' : null
  },
  isCauseOf: (cause, trouble) =>
    trouble.kind === 'gap' && trouble.cause === 'unverified' && areWithin(trouble.seriesIds, cause.seriesIds),
  namesItsSeries: true,
}
