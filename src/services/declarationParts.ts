/* Whether the parts of a service's declaration that came from outside are well-formed. */
import { isObject } from '../base/json.ts'

import { DATE_FORMS } from './kinds.ts'
import { SHAPES, VERSIONS } from './routes.ts'
import type { Steps } from './steps.ts'
import { WELL_KNOWN } from './wellKnown.ts'

type Is = (value: unknown) => boolean

const isText: Is = (value) => typeof value === 'string' && value !== ''
const isNumber: Is = (value) => Number.isSafeInteger(value)
const isOne =
  (...legal: readonly unknown[]): Is =>
  (value) =>
    legal.includes(value)

/** A list of such values. */
export const isListOf =
  (is: Is) =>
  (value: unknown): value is readonly unknown[] =>
    Array.isArray(value) && value.every(is)

/** An object whose values are all such. */
export const recordOf =
  (is: Is): Is =>
  (value) =>
    isObject(value) && Object.values(value).every(is)

/** An object with these fields, each as it must be. */
const isObjectOf =
  (fields: Readonly<Record<string, Is>>): Is =>
  (value) =>
    isObject(value) && Object.entries(fields).every(([name, is]) => is(value[name]))

const optional =
  (is: Is): Is =>
  (value) =>
    value === undefined || is(value)

const KINDS: Readonly<Record<string, Is>> = {
  choice: isObjectOf({ values: isListOf(isText), aliases: recordOf(isText) }),
  instant: isObjectOf({ form: isOne(...DATE_FORMS) }),
  ...Object.fromEntries(['list', 'flag', 'id', 'idOrName'].map((kind) => [kind, isObject])),
}
const isKind: Is = (value) =>
  isObject(value) && Object.hasOwn(KINDS, String(value.kind)) && KINDS[String(value.kind)]!(value)

const hasSlots: Is = (value) =>
  isObject(value) &&
  [...String(value.path).matchAll(/\{(\w+)\}/g)].every(([, name]) => isObject(value.slots) && name! in value.slots)

/** One route. */
export const isRoute: Is = (value) =>
  hasSlots(value) &&
  isObjectOf({
    path: (path) => typeof path === 'string' && /^\/[^?#\s]*$/.test(path),
    version: isOne(...VERSIONS),
    shape: isOne(...SHAPES),
    root: isText,
    slots: recordOf(isKind),
    query: recordOf(isKind),
    item: optional((item) => isText(item) && /^\w+$/.test(item as string)),
    byDay: optional(isOne(true, false)),
    about: isText,
  })(value)

const isPeriod: Is = (value) =>
  isNumber(value) || isObjectOf({ unit: isOne('day', 'month', 'year'), count: isNumber })(value)

const haveForm = isObjectOf({
  byNumber: recordOf(isPeriod),
  byWord: recordOf(isPeriod),
  coarse: (value) => value === null || isNumber(value),
  native: isListOf(isNumber),
})
/** Sums come in a step whose seconds are known. */
const knowSums = ({ coarse, byNumber }: Steps): boolean => coarse === null || isNumber(byNumber[coarse])

/** How resolutions are named. */
export const isSteps: Is = (value) => haveForm(value) && knowSums(value as Steps)

const isSize: Is = isObjectOf({
  unit: isOne('day', 'month', 'year'),
  count: (value) => isNumber(value) && (value as number) > 0,
})

/** How much is requested at once. */
export const isWindows: Is = isObjectOf({
  byGeos: isListOf(isObjectOf({ upTo: (value) => value === null || isNumber(value), size: isSize })),
  unknownGeos: isSize,
  offers: isSize,
  grouped: recordOf(isSize),
})

/** The indicators of some subjects. */
export const isWellKnown: Is = (value) =>
  recordOf(isObjectOf({ indicator: isNumber, geo: isNumber }))(value) &&
  Object.keys(value as object).every((subject) => Object.hasOwn(WELL_KNOWN, subject))

/** One announced change of resolution. */
export const isChange: Is = isObjectOf({
  from: (value) => typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value),
  indicators: isListOf(isNumber),
})
