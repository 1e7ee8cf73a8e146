import { z } from 'zod'
import { MAX_SMALL } from '../../db/tables/declare.ts'
import { routesOf, wordsFor } from '../../service/routes.ts'
import { type Examples, exampleValues, type Service } from '../../service/service.ts'
import { ENTRY_ROUTES } from '../entryRoutes.ts'
import { EXPECTATION_WORDS } from '../expectation.ts'
import { findGeoId } from '../geoNames.ts'
import { DURATION_FORM, MOMENT_FORM, parseDuration, parseMoment } from '../moment.ts'

/** A string that is parsed when it is checked. */
const parsed = <T>(parse: (text: string) => T | undefined, message: string) =>
  z.string({ error: message }).transform((text, context): T => {
    const value = parse(text)
    if (value !== undefined) return value
    context.addIssue({ code: 'custom', message, input: text })
    return z.NEVER
  })
const duration = parsed(parseDuration, `is not a valid duration; expected ${DURATION_FORM}`)
const momentValue = parsed(parseMoment, `is not a valid date; expected ${MOMENT_FORM}`)

const nonEmpty = <T extends z.ZodType>(item: T) => z.array(item).min(1)
const ids = nonEmpty(z.int().positive())
const names = nonEmpty(z.string().min(1))
const idsOrNames = nonEmpty(z.union([z.int().positive(), z.string().min(1)]))

/** Geos by id or name; a name becomes its id. */
const geoList = (service: Service) =>
  nonEmpty(
    z
      .union([z.int().positive().max(MAX_SMALL), z.string()], {
        error: 'does not name a geo; expected an id or a name',
      })
      .transform((geo, context) => {
        const id = typeof geo === 'number' ? geo : findGeoId(service, geo)
        if (typeof id === 'number') return id
        context.addIssue({ code: 'custom', message: id.mistake, input: geo })
        return z.NEVER
      }),
  )

const window = z
  .strictObject({
    from: momentValue.optional().describe('First local day or instant'),
    to: momentValue.optional().describe('End, exclusive; default: end of today'),
    last: duration.optional().describe('The last full local days plus today; instead of from and to'),
  })
  .describe('Range: { from, to }, to is exclusive, or { last: 7d }')

/** An indicator by number, or with geos of its own. */
const ownIndicator = (service: Service) =>
  z.union(
    [
      z.int().positive(),
      z.strictObject({
        id: z.int().positive().describe('Indicator id'),
        geoIds: geoList(service).describe('Only these geos of the indicator, in place of those of the entry'),
      }),
    ],
    { error: 'does not name an indicator; expected an id or { id, geoIds }' },
  )

/** Indicators by number, or selected by their catalogue entries. */
const selectionLike = (service: Service, { indicator, second, word, term }: Examples) =>
  z.union(
    [
      nonEmpty(ownIndicator(service)),
      z.literal('all'),
      z.strictObject({
        match: z
          .string()
          .min(1)
          .optional()
          .describe('Compared with the start of each word in a name or short name, ignoring case and accents'),
        terms: names.optional().describe('Only indicators with one of these terms, which must match exactly'),
        exclude: ids.optional().describe('Excluded ids'),
      }),
    ],
    {
      error: `does not select indicators; expected [${indicator}, ${second}], all, { match: ${word}, terms: [${term}], exclude: [${indicator}] }`,
    },
  )

/** Languages of texts that a service has. */
export const languageList = (service: Service) => nonEmpty(z.enum(service.locales)).describe('Languages of the texts')

/** A word of a parameter of these routes. A rule checks the route of the entry. */
function routeWord({ routes }: Service, parameter: string, names: readonly string[]) {
  const words = names.map((name) => wordsFor(routes, name, parameter))
  const aliases = Object.assign({}, ...words.map((choice) => choice.aliases)) as Readonly<Record<string, string>>
  const legal = [...new Set([...words.flatMap(({ values }) => values), ...Object.keys(aliases)])]
  return z.enum(legal).transform((word) => aliases[word] ?? word)
}

/** The keys of every kind of entry. Legal words and languages are those of the service. */
function entryKeys(service: Service) {
  const { routes } = service
  const values = routesOf(routes, 'series')
  const archives = routesOf(routes, 'archives')
  const contents = routesOf(routes, 'content')
  const orders = contents.flatMap((name) => wordsFor(routes, name, 'order').values)
  const common = {
    locales: languageList(service).optional(),
    locale: z.enum(service.locales).optional(),
    refresh: duration.optional().describe('Minimum time between two fetches of the same data'),
  }
  const filters = {
    taxonomyTerms: names.optional().describe('Only items with these terms'),
    vocabularies: names.optional().describe('Only items with these vocabularies'),
  }
  const windows = {
    lookback: duration.optional().describe('Values younger than this may be revised and are fetched again'),
    chunk: duration.optional().describe('Largest window of one request; default: by number of geos'),
  }
  const offers = {
    indicators: ids.describe('Indicator ids'),
    window: window.optional(),
    datetime: momentValue.optional().describe('One instant instead of a window'),
    expect: z
      .enum(EXPECTATION_WORDS, { error: `is not a cadence; expected one of: ${EXPECTATION_WORDS.join(', ')}` })
      .optional()
      .describe('Periods that have values; irregular = nothing is expected; default: by the stored values'),
    ...windows,
    ...common,
  }
  return {
    catalogue: { taxonomyTerms: names.optional(), ...common },
    series: {
      route: z.enum(values).optional().describe(`Route of the values; default: ${ENTRY_ROUTES.series}`),
      ...offers,
      indicators: selectionLike(service, exampleValues(service)).describe(
        'Indicator ids, also as { id, geoIds }, all, or { match, terms, exclude }',
      ),
      geoIds: geoList(service).optional().describe('Only these geos, by id or name; default: all'),
      timeTrunc: routeWord(service, 'time_trunc', values).optional().describe('Step to group values into'),
      timeAgg: routeWord(service, 'time_agg', values)
        .optional()
        .describe('How to combine values of a step; required with timeTrunc'),
      geoAgg: routeWord(service, 'geo_agg', values).optional().describe('How to combine geos'),
      geoTrunc: routeWord(service, 'geo_trunc', values)
        .optional()
        .describe('Level to which geos are grouped; needs geoAgg'),
    },
    offers,
    content: {
      kinds: nonEmpty(z.enum(contents)).describe('Kinds of content'),
      order: z
        .enum([...new Set(orders)])
        .optional()
        .describe('Date to order by; expires is for news only'),
      sticky: z.boolean().optional().describe('Only pinned items (true), or only others (false)'),
      taxonomyIds: idsOrNames.optional(),
      vocabularyIds: idsOrNames.optional(),
      ...filters,
      ...common,
    },
    archives: {
      route: z.enum(archives).optional().describe(`Route of the listing; default: ${ENTRY_ROUTES.archives}`),
      window,
      dateType: routeWord(service, 'date_type', archives).optional().describe('Date to which the window refers'),
      ...windows,
      ...filters,
      ...common,
    },
    archivesJson: {
      window: window.optional(),
      date: momentValue.optional().describe('One day instead of a window'),
      ...windows,
      ...filters,
      ...common,
    },
    widgets: {
      list: z.boolean().optional().describe('Fetch the list of widgets'),
      names: idsOrNames.optional().describe('Single widgets, by id or name'),
      widgetType: routeWord(service, 'widget_type', [ENTRY_ROUTES.widgets])
        .optional()
        .describe('Only widgets of this type'),
      window: window.optional(),
      datetime: momentValue.optional(),
      ...common,
    },
  }
}

/** The parts of a job file that select data, each with its entries. */
export function entryParts(service: Service) {
  const keys = entryKeys(service)
  const list = <T extends z.ZodRawShape>(shape: T) => nonEmpty(z.strictObject(shape)).optional()
  return {
    catalogue: z
      .union([z.boolean(), z.strictObject(keys.catalogue)])
      .optional()
      .describe('List of indicators'),
    series: list(keys.series).describe('Values of indicators'),
    offers: list(keys.offers).describe('Values of offer indicators'),
    content: list(keys.content).describe('Documentation, static pages, glossaries, news'),
    archives: list(keys.archives).describe('Archives by day'),
    archivesJson: list(keys.archivesJson).describe('Archives as JSON'),
    widgets: z.strictObject(keys.widgets).optional().describe('Widgets'),
  }
}
