/* What the declaration of a service from outside must be. The message of each schema says what is legal there. */
import { z } from 'zod'
import { checkZone } from '../base/time/zone.ts'
import { DATE_FORMS } from './kinds.ts'
import { type Route, SHAPES, VERSIONS } from './routes.ts'
import type { Steps } from './steps.ts'
import { SUBJECTS } from './wellKnown.ts'

/** An object with these keys and no others. */
const objectSchema = <S extends z.ZodRawShape>(shape: S) => {
  const names = Object.keys(shape).join(', ')
  return z.strictObject(shape, { error: ({ code }) => (code === 'unrecognized_keys' ? names : `{ ${names} }`) })
}
const oneOf = <const V extends string | number>(values: readonly V[]) =>
  z.literal(values, { error: values.map((value) => JSON.stringify(value)).join(', ') })
const textSchema = (legal: string, pattern = /./) => z.string({ error: legal }).regex(pattern, { error: legal })
const listSchema = <T extends z.ZodType>(item: T, legal: string) => z.array(item, { error: legal })
const byName = <T extends z.ZodType>(value: T, legal: string) => z.record(z.string(), value, { error: legal })
const whole = (legal: string) => z.int({ error: legal })

const isBaseUrl = (value: string): boolean => {
  if (!URL.canParse(value)) return false
  const { protocol, username, password, search, hash } = new URL(value)
  return ['http:', 'https:'].includes(protocol) && `${username}${password}${search}${hash}` === ''
}
const ADDRESS = 'null, or an address such as "https://host/path" without user, query or fragment'

const isZone = (value: string): boolean => {
  try {
    checkZone(value)
    return true
  } catch {
    return false
  }
}
const ZONE = 'a name of the IANA database, such as "Europe/Lisbon"'

const wordSchema = textSchema('a text that is not empty')
const KINDS = ['choice', 'instant', 'list', 'flag', 'id', 'idOrName'] as const
const parameter = z.discriminatedUnion(
  'kind',
  [
    objectSchema({
      kind: z.literal('choice'),
      values: listSchema(wordSchema, 'a list of words'),
      aliases: byName(wordSchema, 'words by their alias: {} for none'),
    }),
    objectSchema({ kind: z.literal('instant'), form: oneOf(DATE_FORMS) }),
    ...(['list', 'flag', 'id', 'idOrName'] as const).map((kind) => objectSchema({ kind: z.literal(kind) })),
  ],
  { error: ({ code }) => (code === 'invalid_union' ? KINDS.join(', ') : `{ kind } of ${KINDS.join(', ')}`) },
)

const size = objectSchema({
  unit: oneOf(['day', 'month', 'year']),
  count: whole('a number from 1 on').positive({ error: 'a number from 1 on' }),
})

/** The parameters, with the kind of each, that the planner gives to every route of a shape. */
const NEEDED: Readonly<Record<Route['shape'], Readonly<Record<string, string>>>> = {
  catalogue: { locale: 'choice' },
  series: { id: 'id', locale: 'choice', start_date: 'instant', end_date: 'instant' },
  content: { locale: 'choice' },
  archives: { locale: 'choice', start_date: 'instant', end_date: 'instant' },
  widgets: { locale: 'choice' },
}

const route = objectSchema({
  path: textSchema('a path such as "/news/{id}"', /^\/[^?#\s]*$/),
  version: oneOf(VERSIONS),
  shape: oneOf(SHAPES),
  root: textSchema('the key of the answer that has its data'),
  slots: byName(parameter, 'the parameters in the path by name: {} for none'),
  query: byName(parameter, 'the parameters after the path by name: {} for none'),
  item: textSchema('a word of letters, digits and underscores', /^\w+$/).optional(),
  byDay: z.boolean({ error: 'true, false' }).optional(),
  window: size.optional(),
  about: textSchema('a sentence'),
}).superRefine(({ path, slots, query, shape }, context) => {
  const report = (path: string[], legal: string) => context.addIssue({ code: 'custom', path, message: legal })
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  for (const name of named)
    if (!Object.hasOwn(slots, name)) report(['slots', name], `the kind of the parameter ${name}, which is in the path`)
  for (const name of Object.keys(slots))
    if (!named.includes(name)) report(['path'], `a path with {${name}}, or no such slot`)
  for (const [name, kind] of Object.entries(NEEDED[shape]))
    if ((kind === 'id' ? slots : query)[name]?.kind !== kind)
      report(
        [kind === 'id' ? 'slots' : 'query', name],
        `{ kind: "${kind}", … }, as every route of shape ${shape} has it`,
      )
})

const PERIOD = 'seconds, or { unit: "day", "month" or "year", count }'
const period = z.union([z.int(), objectSchema({ unit: z.enum(['day', 'month', 'year']), count: z.int() })], {
  error: PERIOD,
})
const steps = objectSchema({
  byNumber: byName(period, 'periods by number'),
  byWord: byName(period, 'periods by word'),
  coarse: whole('null, or a number').nullable(),
  native: listSchema(whole('a number'), 'a list of numbers'),
}).refine(({ coarse, byNumber }) => coarse === null || typeof (byNumber as Steps['byNumber'])[coarse] === 'number', {
  path: ['coarse'],
  error: 'null, or a number whose seconds are in byNumber',
})

const windows = objectSchema({
  byGeos: listSchema(
    objectSchema({ upTo: whole('null, or a number of geos').nullable(), size }),
    'a list of { upTo, size }',
  ),
  unknownGeos: size,
  grouped: byName(size, 'sizes by step'),
})

/** Headers that say something else. */
const TAKEN = ['accept', 'accept-encoding', 'connection', 'content-length', 'content-type', 'host', 'user-agent']
const HEADER_NAME = 'the name of a header that holds nothing else, such as "x-api-key"'
const PATTERN = 'a regular expression for all of a key, such as "[0-9a-f]{64}"'

const isPattern = (value: string): boolean => {
  try {
    return new RegExp(value) instanceof RegExp
  } catch {
    return false
  }
}
const apiKey = objectSchema({
  header: textSchema(HEADER_NAME, /^[\w!#$%&'*+.^`|~-]+$/).refine((name) => !TAKEN.includes(name.toLowerCase()), {
    error: HEADER_NAME,
  }),
  issued: objectSchema({
    pattern: textSchema(PATTERN).refine(isPattern, { error: PATTERN }),
    words: wordSchema,
  }).nullable(),
})

const TAG = 'the tag of a language, such as "pt" or "pt-BR"'

const subject = objectSchema({ indicator: whole('a number'), geo: whole('a number') })
const change = objectSchema({
  from: textSchema('a day such as "2025-10-01"', /^\d{4}-\d{2}-\d{2}$/),
  indicators: listSchema(whole('a number'), 'a list of numbers'),
})

/** A declaration. What may be left out has its default in `declared.ts`. */
export const declaration = objectSchema({
  name: textSchema('a name of letters, digits, dots and dashes', /^[\w.-]{1,64}$/),
  vendor: textSchema(
    'the word of the media type application/vnd.<vendor>-v1+json, such as "my-api"',
    /^[a-z0-9][a-z0-9!#$&^_.+-]{0,100}$/i,
  ),
  baseUrl: z.string({ error: ADDRESS }).refine(isBaseUrl, { error: ADDRESS }).nullable(),
  apiKey: apiKey.optional(),
  timeZone: z.string({ error: ZONE }).refine(isZone, { error: ZONE }),
  locales: listSchema(textSchema(TAG, /^[a-z]{2,8}(-[a-z\d]{1,8})*$/i), 'a list of its languages, the first one first')
    .min(1, { error: `at least one: ${TAG}` })
    .optional(),
  routes: byName(route.nullable(), 'routes by name; null for one that it does not have').optional(),
  probe: textSchema('the name of a route').nullable().optional(),
  mainGeos: listSchema(whole('the number of a geo'), 'a list of numbers of geos').optional(),
  wellKnown: objectSchema(Object.fromEntries(SUBJECTS.map((name) => [name, subject.optional()]))).optional(),
  exampleTexts: objectSchema({ word: wordSchema, term: wordSchema }).nullable().optional(),
  steps: steps.optional(),
  windows: windows.optional(),
  changes: listSchema(change, 'a list of { from, indicators }').optional(),
})
