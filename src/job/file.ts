import { z } from 'zod'
import { type Examples, examplesOf } from '../services/examples.ts'
import { type ParameterWords, type ROUTES, type RouteName, routesOf, wordsFor } from '../services/routes.ts'
import type { Service } from '../services/service.ts'
import { ENTRY_ROUTES } from './entryRoutes.ts'
import { MOMENT_FORM, parseMoment, parseSpan, SPAN_FORM } from './moment.ts'
import { NOTIFY_EVENTS, NOTIFY_STYLES } from './notify.ts'

/** A string that is parsed while it is checked. */
const parsed = <T>(parse: (text: string) => T | undefined, notText: string, notParsed = notText) =>
  z.string({ error: notText }).transform((text, context): T => {
    const value = parse(text)
    if (value !== undefined) return value
    context.addIssue({ code: 'custom', message: notParsed, input: text })
    return z.NEVER
  })
const span = parsed(parseSpan, `is not a valid span; legal: ${SPAN_FORM}`)
const moment = parsed(
  parseMoment,
  `is not a valid date; legal: ${MOMENT_FORM}`,
  `is not a date that exists; legal: ${MOMENT_FORM}`,
)

const some = <T extends z.ZodType>(item: T) => z.array(item).min(1)
const ids = some(z.int().positive())
const names = some(z.string().min(1))
const idsOrNames = some(z.union([z.int().positive(), z.string().min(1)]))

const refresh = span.describe('What may still change is requested again when it was fetched longer ago than this')
const lookback = span.describe('Windows younger than this may still be revised, and are requested again')
const chunk = span.describe('The largest window of one request; chosen by itself when left out')
const window = z
  .strictObject({
    from: moment.optional().describe('First local day or instant'),
    to: moment.optional().describe('First local day or instant after it; the end of today when left out'),
    last: span.optional().describe('This many whole local days before today, and today; in place of from and to'),
  })
  .describe('What is wanted: { from, to }, to not included, or { last: 7d }')

const terms = {
  taxonomyTerms: names.optional().describe('Only what is filed under these terms'),
  vocabularies: names.optional().describe('Only what is filed under these vocabularies'),
}

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

/** The address is checked by a rule, whose message does not repeat it: it may be a secret. */
const notify = z.strictObject({
  url: z.string().describe('An address, or $NAME for a variable that holds one'),
  on: some(z.enum(NOTIFY_EVENTS))
    .optional()
    .describe('Only this; all but start when left out, and with pings that, too'),
  style: z
    .enum(NOTIFY_STYLES)
    .optional()
    .describe('ping is the way of healthchecks.io; chosen by the address when left out'),
})

/** A job file as it is written, for a service: legal words come from its routes, and languages are its own. */
function schemaFor(service: Service) {
  const { routes, locales: languages, timeZone } = service
  const [seriesRoutes, archiveRoutes] = [routesOf(routes, 'series'), routesOf(routes, 'archives')]
  /** A word that some of the routes take; which of them is a rule. */
  const word = <R extends RouteName, P extends keyof (typeof ROUTES)[R]['query'] & string>(
    _like: R,
    parameter: P,
    names: readonly string[],
  ) => {
    const known = names.map((name) => wordsFor<ParameterWords<R, P>>(routes, name, parameter))
    const aliases: Readonly<Record<string, string>> = Object.assign({}, ...known.map((one) => one.aliases))
    const legal = [...new Set([...known.flatMap(({ values }) => values), ...Object.keys(aliases)])]
    return z.enum(legal).transform((given) => (aliases[given] ?? given) as ParameterWords<R, P>)
  }
  const contents = routesOf(routes, 'content')
  const orders = [
    ...new Set(contents.flatMap((name) => wordsFor<ParameterWords<'news', 'order'>>(routes, name, 'order').values)),
  ]
  const language = z.enum(languages)
  const locales = some(language).describe('Languages of the texts')
  const shared = { locales: locales.optional(), locale: language.optional(), refresh: refresh.optional() }
  const offer = {
    indicators: ids.describe('Numbers of indicators'),
    window: window.optional(),
    datetime: moment.optional().describe('One instant in place of a window'),
    lookback: lookback.optional(),
    chunk: chunk.optional(),
    ...shared,
  }
  const series = {
    route: z.enum(seriesRoutes).optional().describe(`The route of the values; ${ENTRY_ROUTES.series} when left out`),
    ...offer,
    indicators: selectionLike(examplesOf(service)).describe('Numbers of indicators, all, or { match, terms, exclude }'),
    geoIds: ids.optional().describe('Only these geos; all when left out'),
    timeTrunc: word('indicator', 'time_trunc', seriesRoutes).optional().describe('The step to group by'),
    timeAgg: word('indicator', 'time_agg', seriesRoutes)
      .optional()
      .describe('How a step is combined; needed with timeTrunc'),
    geoAgg: word('indicator', 'geo_agg', seriesRoutes).optional().describe('How geos are combined'),
    geoTrunc: word('indicator', 'geo_trunc', seriesRoutes)
      .optional()
      .describe('The level to group geos by; needs geoAgg'),
  }

  return z
    .strictObject({
      name: z
        .string()
        .regex(/^[\w.-]{1,64}$/, { error: 'is not a name; legal: letters, digits, dots, dashes, at most 64' }),
      extends: z.string().min(1).optional().describe('Another job file whose keys hold where this one says nothing'),
      schedule: z.string().optional().describe('A cron expression in the job’s time zone, for `schedule`'),
      timeZone: z
        .string()
        .optional()
        .describe(
          `The zone in which the dates and spans of this file and its schedule are meant; ${timeZone} when left out`,
        ),
      locales: locales.optional(),
      keep: z
        .enum(['all', 'latest', 'none'])
        .optional()
        .describe('Which reply bodies stay in the database; all when left out'),
      newestFirst: z.boolean().optional().describe('The latest windows of all series are requested first'),
      lake: z
        .string()
        .min(1)
        .optional()
        .describe(
          'A folder, or s3://bucket/name, in which the rows are kept as Parquet, brought up to date after each run',
        ),
      pace: z
        .strictObject({
          perSecond: z.number().positive().max(50).optional().describe('Calls a second; 2 when left out'),
          concurrency: z.int().min(1).max(16).optional().describe('Calls at a time; 4 when left out'),
          callsPerMinute: z.int().positive().optional(),
          callsPerHour: z.int().positive().optional(),
          callsPerDay: z.int().positive().optional(),
        })
        .optional()
        .describe('How gently the service is called'),
      notify: z
        .union([z.string(), some(z.union([z.string(), notify]))])
        .optional()
        .describe('Who is notified of the outcome of a run: an address, or a list of { url, on, style }'),
      catalogue: z
        .union([z.boolean(), z.strictObject({ taxonomyTerms: names.optional(), ...shared })])
        .optional()
        .describe('The list of indicators'),
      series: some(z.strictObject(series)).optional().describe('Values of indicators'),
      offers: some(z.strictObject(offer)).optional().describe('Values of offer indicators'),
      content: some(
        z.strictObject({
          kinds: some(z.enum(contents)).describe('Which content'),
          order: z.enum(orders).optional().describe('The date to order by; expires for news only'),
          sticky: z.boolean().optional().describe('Only sticky items, or only others'),
          taxonomyIds: idsOrNames.optional(),
          vocabularyIds: idsOrNames.optional(),
          ...terms,
          ...shared,
        }),
      )
        .optional()
        .describe('Documentations, static pages, glossaries, news'),
      archives: some(
        z.strictObject({
          route: z
            .enum(archiveRoutes)
            .optional()
            .describe(`The route of the listing; ${ENTRY_ROUTES.archives} when left out`),
          window,
          dateType: word('archives', 'date_type', archiveRoutes).optional().describe('Which date the window is about'),
          lookback: lookback.optional(),
          chunk: chunk.optional(),
          ...terms,
          ...shared,
        }),
      )
        .optional()
        .describe('Archives by day'),
      archivesJson: some(
        z.strictObject({
          window: window.optional(),
          date: moment.optional().describe('One day in place of a window'),
          lookback: lookback.optional(),
          chunk: chunk.optional(),
          ...terms,
          ...shared,
        }),
      )
        .optional()
        .describe('Archives that exist as JSON'),
      widgets: z
        .strictObject({
          list: z.boolean().optional().describe('The list of widgets'),
          names: idsOrNames.optional().describe('Single widgets, by number or name'),
          widgetType: word('widgets', 'widget_type', [ENTRY_ROUTES.widgets])
            .optional()
            .describe('Only this type of the list'),
          window: window.optional(),
          datetime: moment.optional(),
          ...shared,
        })
        .optional()
        .describe('Widgets'),
    })
    .describe('A job of indicator-sync')
}

const schemas = new WeakMap<Service, ReturnType<typeof schemaFor>>()

/** The schema of job files for a service; made once. */
export function jobFileOf(service: Service): ReturnType<typeof schemaFor> {
  const known = schemas.get(service) ?? schemaFor(service)
  schemas.set(service, known)
  return known
}

/** The content of a job file, with spans and moments parsed. */
export type JobFile = z.output<ReturnType<typeof schemaFor>>
