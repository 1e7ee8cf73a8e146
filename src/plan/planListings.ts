import { ENTRY_ROUTES } from '../job/entryRoutes.ts'
import type { ArchivesEntry, CatalogueEntry, ContentEntry, Duration, WidgetsEntry } from '../job/job.ts'
import { resolveMoment } from '../job/moment.ts'
import type { PlannedRequest } from '../job/plannedRequest.ts'
import { needsCatalogue, selectorTerms } from '../job/select.ts'
import { rangeParams } from '../service/request.ts'
import type { AnyParams } from '../service/routes.ts'
import { type Interval, merge } from '../util/time/interval.ts'
import { isDue, isSkipped, toFreshness } from './freshness.ts'
import { findSelectedRange, isInRange, type PlanContext, planRequest } from './planning.ts'
import { toSize } from './sizes.ts'
import { cut } from './windows.ts'

const A_DAY: Duration = { count: 1, unit: 'day' }

/** Plans the catalogue of indicators: one request for each language. */
export function* planCatalogue(
  planning: PlanContext,
  entry: CatalogueEntry | null = planning.job.catalogue,
): Generator<PlannedRequest> {
  for (const locale of entry?.locales ?? []) {
    const { taxonomyTerms } = entry!
    const params = { locale, taxonomy_terms: unlessEmpty(taxonomyTerms) }
    yield* planIfDue(planning, entry!, ENTRY_ROUTES.catalogue, params, { isUnfiltered: taxonomyTerms.length === 0 })
  }
}

/** Plans the catalogue requests that a job's selectors need: the whole catalogue, and one listing for each term. */
export function* planSelection(planning: PlanContext): Generator<PlannedRequest> {
  const { job } = planning
  if (!needsCatalogue(job)) return
  const entry = { path: 'catalogue', locales: job.locales, taxonomyTerms: [], refresh: A_DAY, ...job.catalogue }
  yield* planCatalogue(planning, { ...entry, taxonomyTerms: [] })
  for (const term of selectorTerms(job))
    yield* planCatalogue(planning, { ...entry, locales: [job.locales[0]!], taxonomyTerms: [term] })
}

/** Plans content, archives and widgets. */
export function* planListings(planning: PlanContext): Generator<PlannedRequest> {
  const { content, archives, widgets } = planning.job
  for (const entry of content) yield* planContent(planning, entry)
  for (const entry of archives) yield* planArchives(planning, entry)
  if (widgets) yield* planWidgets(planning, widgets)
}

function* planContent(planning: PlanContext, entry: ContentEntry): Generator<PlannedRequest> {
  const { service } = planning
  const filters = {
    taxonomy_terms: unlessEmpty(entry.taxonomyTerms),
    vocabularies: unlessEmpty(entry.vocabularies),
    taxonomy_ids: unlessEmpty(entry.taxonomyIds),
    vocabulary_ids: unlessEmpty(entry.vocabularyIds),
    sticky: entry.sticky ?? undefined,
  }
  const isUnfiltered = Object.values(filters).every((value) => value === undefined)
  for (const route of entry.routes) {
    // The language in the path is the first one that the route allows. Only `locale` selects a language.
    const slot = service.routes[route]?.slots.language
    const language = slot?.kind === 'choice' ? slot.values[0]! : service.locales[0]
    for (const locale of entry.locales) {
      const params = { language, locale, ...filters, order: entry.order ?? undefined }
      yield* planIfDue(planning, entry, route, params, { isUnfiltered })
    }
  }
}

function* planArchives(planning: PlanContext, entry: ArchivesEntry): Generator<PlannedRequest> {
  const { job, service, now } = planning
  const { route } = entry
  const filters = { taxonomy_terms: unlessEmpty(entry.taxonomyTerms), vocabularies: unlessEmpty(entry.vocabularies) }
  if (!entry.window) {
    const date = entry.date ? resolveMoment(entry.date, job.timeZone, now) : undefined
    if (date !== undefined && !isInRange(planning, date)) return
    const window = date === undefined ? null : { from: date, to: date + 1 }
    for (const locale of entry.locales)
      yield* planIfDue(planning, entry, route, { locale, ...filters, date }, { window })
    return
  }
  const selected = findSelectedRange(planning, entry.window)
  const chunk = entry.chunk ?? (service.routes[route]?.isByDay ? A_DAY : null)
  const windows = chunk ? [...cut(service.timeZone, selected, toSize(chunk))] : merge([selected])
  for (const window of job.newestFirst ? windows.reverse() : windows)
    for (const locale of entry.locales) {
      const params = { locale, ...filters, date_type: entry.dateType ?? undefined }
      yield* planIfDue(planning, entry, route, params, { window })
    }
}

function* planWidgets(planning: PlanContext, entry: WidgetsEntry): Generator<PlannedRequest> {
  const { job, now } = planning
  // A range filters the content of widgets. It is not their window, because they are due independently of it.
  const range = entry.window ? rangeParams(findSelectedRange(planning, entry.window)) : {}
  const datetime = entry.datetime ? resolveMoment(entry.datetime, job.timeZone, now) : undefined
  const widgetType = entry.widgetType ?? undefined
  for (const locale of entry.locales) {
    const params = { locale, datetime, ...range }
    if (entry.list) {
      const isUnfiltered = widgetType === undefined
      yield* planIfDue(planning, entry, ENTRY_ROUTES.widgets, { ...params, widget_type: widgetType }, { isUnfiltered })
    }
    for (const id of entry.names) yield* planIfDue(planning, entry, ENTRY_ROUTES.widget, { id, ...params }, {})
  }
}

/** Plans a listing if it is due. `isUnfiltered`: whether it has no filters. */
function* planIfDue(
  planning: PlanContext,
  entry: { readonly path: string; readonly refresh: Duration; readonly lookback?: Duration },
  route: string,
  params: AnyParams,
  { window = null, isUnfiltered = false }: { readonly window?: Interval | null; readonly isUnfiltered?: boolean },
): Generator<PlannedRequest> {
  const { plannerState, options, requested } = planning
  // A command for a range skips listings without window and date.
  if (window === null && options.range && (options.restate || options.range.how === 'replace')) return
  const planned = planRequest(planning, entry.path, route, params, { window, isUnfiltered })
  const { target } = planned.http
  const last = plannerState.lastReplyAt(target)
  if (!options.restate && !isDue(last, window, toFreshness(planning, entry))) return
  if (params.id !== undefined && isSkipped(planning, entry.path, route, params.id as string | number)) return
  const due = last === undefined ? 'missing' : 'refresh'
  if (requested.addTarget(target)) yield { ...planned, reason: options.restate ? 'restate' : due }
}

/** A list as parameter; an empty list is not sent. */
const unlessEmpty = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list)
