import { jobFile } from '../../db/queries/jobRuns.ts'
import { visible } from '../../util/text.ts'
import { formatUtc } from '../../util/time/instant.ts'
import { serviceText } from '../elements.ts'
import { daysText, localText, roughLength } from '../formats.ts'
import { type Html, type HtmlPart, html } from '../html.ts'
import type { PageRequest } from '../page.ts'
import type { Overview } from '../queries/overviewData.ts'
import { lackingText } from './lackingText.ts'

/** A finding with the series that it is about. */
export type ShownFinding = Overview['health']['findings'][number]

/** A series as a link to its coverage. */
function seriesLink({ series, subject }: ShownFinding, { link }: PageRequest): Html {
  if (series === null) return html`${visible(subject)}`
  return html`<a href="${link(`/coverage/${series.path}`)}">${series.indicatorId}${series.name !== null && html` ${serviceText(series.name)}`}</a>`
}

/** Puts the facts of a finding into the sentence of its kind, in the language of the page. A kind without a case names its subject. */
export function findingText(finding: ShownFinding, jobFiles: Overview['jobFiles'], request: PageRequest): HtmlPart {
  const { link, words } = request
  const { home, coverage } = words
  const sentences = home.findings
  const { trouble } = finding
  const ofRun = (run: number, text: string): Html => html`<a href="${link(`/runs/${run}`)}">${text}</a>`
  const ofSeries = (text: string): Html => html`${seriesLink(finding, request)}: ${text}`
  switch (trouble.kind) {
    case 'job file':
    case 'alternating':
    case 'never run':
      return sentences[trouble.kind](trouble.job.name)
    case 'same name':
      return sentences[trouble.kind](trouble.named[0]!.name)
    case 'key':
    case 'service down':
    case 'last run':
      return ofRun(trouble.runs[0]!.run, sentences[trouble.kind](trouble.runs.map(({ job }) => job).join(', ')))
    case 'unfinished': {
      const { run, nextRunAt, cause } = trouble
      const isContinued = cause === 'budget' && nextRunAt !== null && nextRunAt > request.now
      const next = isContinued && ` ${home.continues(localText(request, formatUtc(nextRunAt)))}`
      return html`${ofRun(run.run, sentences[trouble.kind](run.job))}${next}`
    }
    case 'no run': {
      const { job, lastAt, usualS } = trouble.rhythm
      return sentences[trouble.kind](job, localText(request, formatUtc(lastAt)), roughLength(request, usualS))
    }
    case 'clock':
      return sentences[trouble.kind](trouble.runs)
    case 'not judged':
      return sentences[trouble.kind](trouble.series)
    case 'unknown id': {
      const { indicator_id, job } = trouble.failures[0]!
      const file = jobFile(jobFiles, job ?? '')
      if (indicator_id !== null) return coverage.unknownId(String(indicator_id), file)
      return sentences[trouble.kind](visible(finding.subject), file)
    }
    case 'failure':
      return sentences[trouble.kind](trouble.failures.length)
    case 'quarantine':
      return html`<a href="${link('/quarantine')}">${sentences[trouble.kind](trouble.reply.entries)}</a>`
    case 'geo':
    case 'no values':
      return lackingText(trouble.lacking, jobFiles, request)
    case 'late':
    case 'gap': {
      const { gaps } = trouble
      const { reason, seconds, geoIds, range } = gaps[0]!
      if (gaps.length > 1) return home.unrequested(gaps.length)
      const sentence = reason === 'late' ? sentences.late : sentences.gap[reason]
      // The average of the geos, because each may lack the same days.
      return ofSeries(sentence(roughLength(request, seconds / geoIds.length), daysText(request, range.from, range.to)))
    }
    case 'off the grid':
      return ofSeries(sentences[trouble.kind](trouble.days.count))
    case 'cadence changed':
      return ofSeries(sentences[trouble.kind](trouble.change.at))
    default:
      return sentences[trouble.kind](visible(finding.subject))
  }
}
