import { InputError } from '../base/errors.ts'
import { didYouMean } from '../base/suggest.ts'
import { checkZone } from '../base/time/zone.ts'
import { isChange, isListOf, isRoute, isSteps, isWellKnown, isWindows, recordOf } from './declarationParts.ts'
import { LOCALES } from './routes.ts'
import type { Service } from './service.ts'
import { SHARED } from './services.ts'

const isText = (value: unknown): value is string => typeof value === 'string'

function isBaseUrl(value: unknown): boolean {
  if (!isText(value) || !URL.canParse(value)) return false
  const { protocol, username, password, search, hash } = new URL(value)
  return ['http:', 'https:'].includes(protocol) && `${username}${password}${search}${hash}` === ''
}

function isZone(value: unknown): boolean {
  try {
    checkZone(value as string)
    return isText(value)
  } catch {
    return false
  }
}

/** What each part of a declaration must be, with the legal form for messages. */
const PARTS: Readonly<Record<keyof Service, { readonly legal: string; readonly is: (value: unknown) => boolean }>> = {
  name: {
    legal: 'a name of letters, digits, dots and dashes',
    is: (value) => isText(value) && /^[\w.-]{1,64}$/.test(value),
  },
  vendor: {
    legal: 'the word of the media type application/vnd.<vendor>-v1+json, such as "my-api"',
    is: (value) => isText(value) && /^[a-z0-9][a-z0-9!#$&^_.+-]{0,100}$/i.test(value),
  },
  baseUrl: {
    legal: 'null, or an address such as "https://host/path" without user, query or fragment',
    is: (value) => value === null || isBaseUrl(value),
  },
  timeZone: { legal: 'a name of the IANA database, such as "Europe/Lisbon"', is: isZone },
  locales: {
    legal: `a list of its languages, the first one first, of ${LOCALES.join(', ')}`,
    is: (value) => isListOf((one) => (LOCALES as readonly unknown[]).includes(one))(value) && value.length > 0,
  },
  routes: {
    legal: 'routes by name, each { path, version, shape, root, slots, query, about } as in src/services/routes.ts',
    is: recordOf(isRoute),
  },
  mainGeos: { legal: 'a list of numbers of geos', is: isListOf(Number.isInteger) },
  wellKnown: {
    legal: '{ subject: { indicator, geo } }, of the subjects in src/services/wellKnown.ts',
    is: isWellKnown,
  },
  steps: { legal: '{ byNumber, byWord, coarse, native } as in src/services/steps.ts', is: isSteps },
  windows: { legal: '{ byGeos, unknownGeos, offers, grouped } as in src/services/windows.ts', is: isWindows },
  changes: { legal: 'a list of { from: a day, indicators: a list of numbers }', is: isListOf(isChange) },
}
const NAMES = Object.keys(PARTS) as (keyof Service)[]
/** What every service must declare; the rest is by default as in the specification. */
const REQUIRED: readonly (keyof Service)[] = ['name', 'vendor', 'baseUrl', 'timeZone']

/** A value as a message shows it. */
function asText(value: unknown): string {
  if (value === undefined) return 'missing'
  if (isText(value)) return JSON.stringify(value)
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'function' || (typeof value === 'object' && value !== null)
    ? `a value of type ${typeof value}`
    : String(value)
}

/** Checks the declaration of a service from a file or program; `source` names it. Throws one InputError with every mistake. */
export function checkService(declared: unknown, source: string): Service {
  const fail = (mistakes: readonly string[]): never => {
    throw new InputError(`${source} is not the declaration of a service:\n${mistakes.join('\n')}`, {
      hint: 'docs/library.md shows one: { name, vendor, baseUrl, timeZone }, and what else can be declared.',
      code: 'bad-service',
    })
  }
  if (declared === null || typeof declared !== 'object' || Array.isArray(declared))
    return fail([`  it is ${asText(declared)}; legal: an object with ${REQUIRED.join(', ')}`])
  const given = declared as Readonly<Record<string, unknown>>
  const mistakes = [
    ...NAMES.filter((name) => REQUIRED.includes(name) || given[name] !== undefined)
      .filter((name) => !PARTS[name].is(given[name]))
      .map((name) => `  ${name} is ${asText(given[name])}; legal: ${PARTS[name].legal}`),
    ...Object.keys(given)
      .filter((name) => !(name in PARTS))
      .map((name) => `  ${name} is unknown; legal: ${NAMES.join(', ')}.${didYouMean(name, NAMES)}`),
  ]
  if (mistakes.length > 0) return fail(mistakes)
  const service = { ...SHARED, ...(given as unknown as Service) }
  return {
    ...service,
    baseUrl: service.baseUrl?.replace(/\/+$/, '') ?? null,
    // Its routes are added to those of the specification, or take their place.
    routes: { ...SHARED.routes, ...(given.routes as Service['routes'] | undefined) },
    wellKnown: { ...SHARED.wellKnown, ...(given.wellKnown as Service['wellKnown'] | undefined) },
  }
}
