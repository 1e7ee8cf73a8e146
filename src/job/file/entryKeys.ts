import { z } from 'zod'
import { type Examples, examplesOf } from '../../services/examples.ts'
import { routesOf, wordsFor } from '../../services/routes.ts'
import type { Service } from '../../services/service.ts'
import { ENTRY_ROUTES } from '../entryRoutes.ts'
import { MOMENT_FORM, parseMoment, parseSpan, SPAN_FORM } from '../moment.ts'

/** A string that is parsed while it is checked. */
const parsed = <T>(parse: (text: string) => T | undefined, notText: string, notParsed = notText) =>
  z.string({ error: notText }).transform((text, context): T => {
    const value = parse(text)
    if (value !== undefined) return value
    context.addIssue({ code: 'custom', message: notParsed, input: text })
    return z.NEVER
  })
const span = parsed(parseSpan, `is not a valid span; legal: ${SPAN_FORM}`)
const momentValue = parsed(
  parseMoment,
  `is not a valid date; legal: ${MOMENT_FORM}`,
  `is not a date that exists; legal: ${MOMENT_FORM}`,
)

const some = <T extends z.ZodType>(item: T) => z.array(item).min(1)
const ids = some(z.int().positive())
const names = some(z.string().min(1))
const idsOrNames = some(z.union([z.int().positive(), z.string().min(1)]))

const window = z
  .strictObject({
    from: momentValue.optional().describe('First local day or instant'),
    to: momentValue.optional().describe('First local day or instant after it; the end of today when left out'),
    last: span.optional().describe('This many whole local days before today, and today; in place of from and to'),
  })
  .describe('What is wanted: { from, to }, to not included, or { last: 7d }')

/** Indicators by number, or selected by their catalogue entries. */
const selectionLike = ({ indicator, second, word, term }: Examples) =>
  z.union(
    [
      ids,
      z.literal('all'),
      z.strictObject({
        match: z.string().min(1).optional().describe('Words of a name or short name; case and accents do not matter'),
        terms: names.optional().describe('Only what the catalogue files under one of these terms'),
        exclude: ids.optional().describe('Numbers that are left out'),
      }),
    ],
    {
      error: `does not name indicators; legal: [${indicator}, ${second}], all, { match: ${word}, terms: [${term}], exclude: [${indicator}] }`,
    },
  )

/** Languages of texts, of those that a service has. */
export const languageList = (service: Service) => some(z.enum(service.locales)).describe('Languages of the texts')

/** A word of a parameter that some of these routes take; which of them is a rule. */
function routeWord({ routes }: Service, parameter: string, names: readonly string[]) {
  const known = names.map((name) => wordsFor(routes, name, parameter))
  const aliases: Readonly<Record<string, string>> = Object.assign({}, ...known.map((one) => one.aliases))
  const legal = [...new Set([...known.flatMap(({ values }) => values), ...Object.keys(aliases)])]
  return z.enum(legal).transform((given) => aliases[given] ?? given)
}

/** The keys of every kind of entry, for a service: legal words come from its routes, and languages are its own. */
function entryKeys(service: Service) {
  const { routes } = service
  const [values, archives] = [routesOf(routes, 'series'), routesOf(routes, 'archives')]
  const contents = routesOf(routes, 'content')
  const orders = contents.flatMap((name) => wordsFor(routes, name, 'order').values)
  const every = {
    locales: languageList(service).optional(),
    locale: z.enum(service.locales).optional(),
    refresh: span
      .optional()
      .describe('What may still change is requested again when it was fetched longer ago than this'),
  }
  const filed = {
    taxonomyTerms: names.optional().describe('Only what is filed under these terms'),
    vocabularies: names.optional().describe('Only what is filed under these vocabularies'),
  }
  const windows = {
    lookback: span.optional().describe('Windows younger than this may still be revised, and are requested again'),
    chunk: span.optional().describe('The largest window of one request; chosen by itself when left out'),
  }
  const offers = {
    indicators: ids.describe('Numbers of indicators'),
    window: window.optional(),
    datetime: momentValue.optional().describe('One instant in place of a window'),
    ...windows,
    ...every,
  }
  return {
    catalogue: { taxonomyTerms: names.optional(), ...every },
    series: {
      route: z.enum(values).optional().describe(`The route of the values; ${ENTRY_ROUTES.series} when left out`),
      ...offers,
      indicators: selectionLike(examplesOf(service)).describe(
        'Numbers of indicators, all, or { match, terms, exclude }',
      ),
      geoIds: ids.optional().describe('Only these geos; all when left out'),
      timeTrunc: routeWord(service, 'time_trunc', values).optional().describe('The step to group by'),
      timeAgg: routeWord(service, 'time_agg', values)
        .optional()
        .describe('How a step is combined; needed with timeTrunc'),
      geoAgg: routeWord(service, 'geo_agg', values).optional().describe('How geos are combined'),
      geoTrunc: routeWord(service, 'geo_trunc', values).optional().describe('The level to group geos by; needs geoAgg'),
    },
    offers,
    content: {
      kinds: some(z.enum(contents)).describe('Which content'),
      order: z
        .enum([...new Set(orders)])
        .optional()
        .describe('The date to order by; expires for news only'),
      sticky: z.boolean().optional().describe('Only sticky items, or only others'),
      taxonomyIds: idsOrNames.optional(),
      vocabularyIds: idsOrNames.optional(),
      ...filed,
      ...every,
    },
    archives: {
      route: z.enum(archives).optional().describe(`The route of the listing; ${ENTRY_ROUTES.archives} when left out`),
      window,
      dateType: routeWord(service, 'date_type', archives).optional().describe('Which date the window is about'),
      ...windows,
      ...filed,
      ...every,
    },
    archivesJson: {
      window: window.optional(),
      date: momentValue.optional().describe('One day in place of a window'),
      ...windows,
      ...filed,
      ...every,
    },
    widgets: {
      list: z.boolean().optional().describe('The list of widgets'),
      names: idsOrNames.optional().describe('Single widgets, by number or name'),
      widgetType: routeWord(service, 'widget_type', [ENTRY_ROUTES.widgets])
        .optional()
        .describe('Only this type of the list'),
      window: window.optional(),
      datetime: momentValue.optional(),
      ...every,
    },
  }
}

/** The parts of a job file that say what is requested, each with its entries. */
export function entryParts(service: Service) {
  const keys = entryKeys(service)
  const list = <T extends z.ZodRawShape>(of: T) => some(z.strictObject(of)).optional()
  return {
    catalogue: z
      .union([z.boolean(), z.strictObject(keys.catalogue)])
      .optional()
      .describe('The list of indicators'),
    series: list(keys.series).describe('Values of indicators'),
    offers: list(keys.offers).describe('Values of offer indicators'),
    content: list(keys.content).describe('Documentations, static pages, glossaries, news'),
    archives: list(keys.archives).describe('Archives by day'),
    archivesJson: list(keys.archivesJson).describe('Archives that exist as JSON'),
    widgets: z.strictObject(keys.widgets).optional().describe('Widgets'),
  }
}
