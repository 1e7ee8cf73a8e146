import { didYouMean } from '../util/didYouMean.ts'
import { InputError } from '../util/errors.ts'
import { quantity, withoutAccents } from '../util/text.ts'
import type { Job, Selector, SeriesEntry } from './job.ts'

/** An indicator of the catalogue with its names in all stored languages. */
export interface CatalogueIndicator {
  readonly id: number
  readonly names: readonly string[]
  /** Its terms. */
  readonly terms: readonly string[]
}

/** The words of a text, without case and accents. */
export const toWords = (text: string): string[] => withoutAccents(text).match(/[\p{L}\p{N}]+/gu) ?? []

/** Whether each of some prefixes starts a word of the texts. */
export function hasWords(texts: readonly string[], prefixes: readonly string[]): boolean {
  const words = texts.flatMap(toWords)
  return prefixes.every((prefix) => words.some((word) => word.startsWith(prefix)))
}

/** The ids that a selector selects, in ascending order. */
const select = (selector: Selector, catalogue: readonly CatalogueIndicator[]): number[] =>
  catalogue
    .filter(({ id }) => !selector.exclude.includes(id) && (selector.only?.includes(id) ?? true))
    .filter(({ terms }) => selector.terms.length === 0 || selector.terms.some((term) => terms.includes(term)))
    .filter(({ names }) => hasWords(names, selector.match))
    .map(({ id }) => id)
    .sort((a, b) => a - b)

/** Whether a job selects indicators by the catalogue, which must be stored before it is planned. */
export const needsCatalogue = (job: Job): boolean => job.series.some(({ select: selector }) => selector !== null)

/** Whether a job selects anything. `--only` may leave nothing. */
export const namesAnything = ({ catalogue, series, content, archives, widgets }: Job): boolean =>
  catalogue !== null ||
  widgets !== null ||
  content.length + archives.length > 0 ||
  series.some(({ indicators, select: selector }) => selector !== null || indicators.length > 0)

/** The terms by which a job selects indicators. */
export const selectorTerms = (job: Job): string[] => [
  ...new Set(job.series.flatMap((entry) => entry.select?.terms ?? [])),
]

/** The ids that an entry with a selector selected earlier. They stay selected until the entry is edited. */
export type Recall = (entry: SeriesEntry) => readonly number[]

const recallNothing: Recall = () => []

/** The ids of an entry with a selector: those of the catalogue, and earlier ones, in ascending order. */
function resolveEntry(
  entry: SeriesEntry,
  selector: Selector,
  catalogue: readonly CatalogueIndicator[],
  recall: Recall,
) {
  const earlier = recall(entry).filter((id) => selector.only?.includes(id) ?? true)
  return [...new Set([...select(selector, catalogue), ...earlier])].sort((a, b) => a - b)
}

/** Replaces the selectors of a job by the selected ids, possibly none. */
export const applySelectors = (
  job: Job,
  catalogue: readonly CatalogueIndicator[],
  recall: Recall = recallNothing,
): Job => ({
  ...job,
  series: job.series.map((entry) =>
    entry.select === null
      ? entry
      : { ...entry, indicators: resolveEntry(entry, entry.select, catalogue, recall), select: null },
  ),
})

/**
 * Replaces selectors as `applySelectors` does. Throws InputError if a selector without `--only` selects nothing, or no job of the
 * command selects an id of `--only`.
 */
export function resolveSelectors(
  job: Job,
  catalogue: readonly CatalogueIndicator[],
  recall: Recall = recallNothing,
): Job {
  const resolved = applySelectors(job, catalogue, recall)
  const empty = job.series.find(
    (entry) =>
      entry.select !== null && resolveEntry(entry, { ...entry.select, only: null }, catalogue, recall).length === 0,
  )
  if (empty)
    throw new InputError(
      `${job.name}: ${empty.path}.indicators matches none of ${quantity(catalogue.length, 'indicator')}.`,
      {
        hint: 'Try the words with `indicator-sync discover`. Terms must match exactly.',
        code: 'empty-selection',
      },
    )
  const { ids, selectors } = job.unmatched ?? { ids: [], selectors: [] }
  const selected = new Set([
    ...selectors.flatMap((selector) => select(selector, catalogue)),
    ...job.series.flatMap((entry) => recall(entry)),
  ])
  refuseUnselected(
    ids.filter((id) => needsCatalogue(job) && !selected.has(id)),
    'Find ids with `indicator-sync discover`.',
  )
  return resolved
}

/** Does the same as `resolveSelectors`, but leaves out the entries that need a catalogue while none is stored. */
export const resolveStored = (
  job: Job,
  catalogue: readonly CatalogueIndicator[],
  recall: Recall = recallNothing,
): Job =>
  catalogue.length > 0
    ? resolveSelectors(job, catalogue, recall)
    : applySelectors(
        { ...job, series: job.series.filter((entry) => entry.select === null || recall(entry).length > 0) },
        catalogue,
        recall,
      )

/** Throws InputError for ids of `--only` that no job selects. */
function refuseUnselected(ids: readonly number[], hint: string): void {
  if (ids.length === 0) return
  throw new InputError(`--only ${ids.join(',')}: no job entry selects ${ids.length > 1 ? 'them' : 'it'}.`, {
    hint,
    code: 'unknown-indicator',
  })
}

/**
 * Reduces jobs to some indicators. Throws InputError for an id that no job selects. Ids for selectors are checked with the
 * catalogue.
 */
export function narrowToIndicators(jobs: readonly Job[], only: readonly number[]): Job[] {
  const named = new Set(jobs.flatMap((job) => job.series.flatMap(({ indicators }) => indicators)))
  const ids = only.filter((id) => !named.has(id))
  const selectors = jobs.flatMap((job) => job.series.flatMap((entry) => entry.select ?? []))
  if (selectors.length === 0)
    refuseUnselected(
      ids,
      `The job selects ${[...named].slice(0, 20).join(', ')}${named.size > 20 ? ', …' : ''}.${didYouMean(String(ids[0]), [...named].map(String))}`,
    )
  return jobs.map((job) => ({
    ...job,
    fullJob: job,
    unmatched: { ids, selectors },
    catalogue: null,
    content: [],
    archives: [],
    widgets: null,
    series: job.series
      .map((entry) => ({
        ...entry,
        indicators: entry.indicators.filter((id) => only.includes(id)),
        select: entry.select && { ...entry.select, only },
      }))
      .filter(({ indicators, select: selector }) => selector !== null || indicators.length > 0),
  }))
}
