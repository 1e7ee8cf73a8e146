import type { z } from 'zod'
import { InputError } from '../base/errors.ts'
import { isObject, pathText } from '../base/json.ts'
import { didYouMean } from '../base/suggest.ts'
import { UNITS } from '../base/time/zone.ts'
import { declaration } from './declaration.ts'
import { API_KEY } from './key.ts'
import { choice } from './kinds.ts'
import { itemKind, LOCALES, type Locale, PROBE, ROUTES, type Route, type RouteName, routeOf } from './routes.ts'
import type { Service } from './service.ts'
import { STEPS } from './steps.ts'
import { NOTHING_KNOWN } from './wellKnown.ts'
import { WINDOWS } from './windows.ts'

/** What a service has that declares nothing else: the interface of the specification, and nothing of its operator's data. */
const DEFAULTS = {
  apiKey: API_KEY,
  locales: LOCALES,
  mainGeos: [],
  exampleTexts: null,
  steps: { byNumber: {}, byWord: STEPS.byWord, coarse: null, native: [] },
  windows: WINDOWS,
  changes: [],
} as const satisfies Partial<Service>

/** A value as a message shows it. */
function asText(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeof value === 'string') return JSON.stringify(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  return typeof value === 'function' || isObject(value) ? `a value of type ${typeof value}` : String(value)
}

/** The lines of a message for an issue: where it is, what is there, and what is legal. */
function explained(declared: unknown, issue: z.core.$ZodIssue): string[] {
  const { path, message } = issue
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map(
      (key) => `${pathText([...path, key])} is unknown; legal: ${message}.${didYouMean(key, message.split(', '))}`,
    )
  const value = path.reduce<unknown>(
    (inner, part) =>
      isObject(inner) || Array.isArray(inner) ? (inner as Record<PropertyKey, unknown>)[part] : undefined,
    declared,
  )
  const guess =
    typeof value === 'string'
      ? didYouMean(
          value,
          [...message.matchAll(/"(\w+)"/g)].map(([, word]) => word!),
        )
      : ''
  return [`${path.length === 0 ? 'it' : pathText(path)} is ${asText(value)}; legal: ${message}${guess && `.${guess}`}`]
}

/** A route of the specification with other languages. */
function inLanguages({ slots, query, ...route }: Route, locales: readonly Locale[]): Route {
  const languages = choice(locales)
  return {
    ...route,
    slots: 'language' in slots ? { ...slots, language: languages } : slots,
    query: 'locale' in query ? { ...query, locale: languages } : query,
  }
}

/**
 * The routes of a service: those of the specification, in its languages where it declares them, with the declared routes added or
 * in their place, without those declared null.
 */
function mergedRoutes(
  declared: Readonly<Record<string, Route | null>>,
  locales: readonly Locale[] | undefined,
): Record<string, Route> {
  const own = locales
    ? Object.fromEntries(Object.entries(ROUTES).map(([name, route]) => [name, inLanguages(route, locales)]))
    : ROUTES
  const all = Object.entries({ ...own, ...declared } as Record<string, Route | null>)
  return Object.fromEntries(
    all.flatMap(([name, route]) => {
      if (route === null) return []
      // What the items of a route are called does not change with its path.
      const item = route.item ?? (name in ROUTES ? routeOf(name as RouteName).item : undefined)
      return [[name, item === undefined ? route : { ...route, item }]]
    }),
  )
}

/** Whether a route can be called without any number or name. */
const isBare = ({ slots }: Route): boolean => Object.values(slots).every(({ kind }) => kind === 'choice')

/** The steps by which a route groups values, in the words that are sent, and whose borders the planner does not know. */
function unknownSteps({ shape, query }: Route): string[] {
  if (shape !== 'series' || query.time_trunc?.kind !== 'choice') return []
  const { values, aliases } = query.time_trunc
  const known: readonly string[] = UNITS
  return [...new Set([...values, ...Object.values(aliases)])].filter((word) => !known.includes(word))
}

/** What is wrong with the routes of a service together. */
function routeMistakes(routes: Readonly<Record<string, Route>>, probe: unknown, locales: readonly Locale[]): string[] {
  const mistakes: string[] = []
  /** Kinds of items, with the route that has each: keys in the database begin with them. */
  const kinds = new Map<string, string>()
  for (const [name, { shape, query }] of Object.entries(routes)) {
    const languages = query.locale?.kind === 'choice' ? query.locale.values : locales
    const lacking = locales.filter((locale) => !languages.includes(locale))
    if (lacking.length > 0)
      mistakes.push(
        `routes.${name}.query.locale.values lacks ${lacking.map((locale) => JSON.stringify(locale)).join(', ')}; legal: a list with all of locales, ${locales.join(', ')}`,
      )
    const unknown = unknownSteps(routes[name]!)
    if (unknown.length > 0)
      mistakes.push(
        `routes.${name}.query.time_trunc.values has ${unknown.map((word) => JSON.stringify(word)).join(', ')}; legal: ${UNITS.join(', ')}, because a window would begin or end inside of any other step`,
      )
    if (name in ROUTES && routeOf(name as RouteName).shape !== shape)
      mistakes.push(
        `routes.${name}.shape is "${shape}"; legal: "${routeOf(name as RouteName).shape}", because the specification has this route`,
      )
    // Their tables have no place for a second kind.
    if (!(name in ROUTES) && (shape === 'catalogue' || shape === 'widgets'))
      mistakes.push(
        `routes.${name}.shape is "${shape}"; legal: "series", "content", "archives" for a route that the specification does not have`,
      )
    const kind = itemKind(routes, name)
    if (kinds.has(kind))
      mistakes.push(
        `routes.${name}.item is "${kind}"; legal: a word that no other route has, and routes.${kinds.get(kind)} has this one`,
      )
    kinds.set(kind, name)
  }
  const bare = Object.keys(routes).filter((name) => isBare(routes[name]!))
  if (probe !== null && !bare.includes(probe as string))
    mistakes.push(`probe is ${asText(probe)}; legal: null, or a route without numbers in its path: ${bare.join(', ')}`)
  return mistakes
}

/** Checks the declaration of a service from a file or program; `source` names it. Throws one InputError with every mistake. */
export function checkService(declared: unknown, source: string): Service {
  const fail = (mistakes: readonly string[]): never => {
    throw new InputError(`${source} is not the declaration of a service:\n  ${mistakes.join('\n  ')}`, {
      hint: 'docs/library.md shows one: { name, vendor, baseUrl, timeZone }, and what else can be declared.',
      code: 'bad-service',
    })
  }
  if (!isObject(declared))
    return fail([`it is ${asText(declared)}; legal: an object with name, vendor, baseUrl, timeZone`])
  const { success, data, error } = declaration.safeParse(declared, { jitless: true })
  if (!success) return fail(error.issues.flatMap((issue) => explained(declared, issue)))
  const routes = mergedRoutes((data.routes ?? {}) as Readonly<Record<string, Route | null>>, data.locales)
  const probe = data.probe === undefined ? PROBE : data.probe
  const mistakes = routeMistakes(routes, probe, data.locales ?? LOCALES)
  if (mistakes.length > 0) return fail(mistakes)
  const given = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined))
  return {
    ...DEFAULTS,
    ...(given as unknown as Service),
    baseUrl: data.baseUrl?.replace(/\/+$/, '') ?? null,
    routes,
    probe,
    wellKnown: { ...NOTHING_KNOWN, ...(data.wellKnown as Partial<Service['wellKnown']> | undefined) },
  }
}
