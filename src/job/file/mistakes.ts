import type { z } from 'zod'
import { contentKinds, LANGUAGE_NAMES } from '../../service/routes.ts'
import type { Service } from '../../service/service.ts'
import { didYouMean } from '../../util/didYouMean.ts'
import { parseSpan } from '../moment.ts'
import { isRule } from './jobFile.ts'
import type { DocumentPath } from './yaml.ts'

/** A mistake at a path of a job; `key`: the mistake is in the key, not in its value. */
export interface ExplainedMistake {
  readonly path: DocumentPath
  readonly message: string
  readonly key: boolean
}

/** Common words for legal ones that edit distance does not find. */
const SYNONYMS: Readonly<Record<string, string>> = {
  mean: 'average',
  max: 'average',
  min: 'average',
  total: 'sum',
  pages: 'static_pages',
  hourly: 'hour',
  daily: 'day',
  monthly: 'month',
  yearly: 'year',
  quarter: 'fifteen_minutes',
  '15m': 'fifteen_minutes',
  ...LANGUAGE_NAMES,
}

const suggestion = (word: string, legal: readonly string[], { routes }: Service): string => {
  // A job names the route of content, the database its items.
  const legalWord = contentKinds(routes).get(word.toLowerCase()) ?? SYNONYMS[word.toLowerCase()]
  return legalWord !== undefined && legal.includes(legalWord)
    ? ` Did you mean ${JSON.stringify(legalWord)}?`
    : didYouMean(word, legal)
}

/** Translates an issue of zod with a schema. One issue may be several mistakes: each unknown key is one. */
export function explainIssue(
  issue: z.core.$ZodIssue,
  valueAt: (path: DocumentPath) => unknown,
  jobFile: z.ZodType,
  service: Service,
): ExplainedMistake[] {
  const { path } = issue
  const value = valueAt(path)
  // JSON has no Infinity and no NaN: it would show them as null.
  const shown = typeof value === 'number' ? String(value) : JSON.stringify(value)
  const one = (message: string): ExplainedMistake[] => [{ path, key: false, message }]
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const known = keysAt(path, jobFile)
        return {
          path: [...path, key],
          key: true,
          message: `unknown key; valid keys: ${known.join(', ')}.${didYouMean(key, known)}`,
        }
      })
    case 'invalid_value': {
      const legal = issue.values.map(String)
      return one(
        `${shown} is not valid; expected one of: ${legal.join(', ')}.${suggestion(String(value), legal, service)}`,
      )
    }
    case 'invalid_union': {
      const branches = issue.errors.filter((errors) => errors.length > 0)
      // The best branch of a union is one for the type of the value, then the one with the fewest issues.
      const best =
        [...branches].sort(
          (a, b) => misfits(a) - misfits(b) || wrongTypes(a) - wrongTypes(b) || a.length - b.length,
        )[0] ?? []
      if (value === null || typeof value !== 'object')
        return one(
          `${shown ?? ''} ${issue.message.startsWith('does not') ? issue.message : 'does not fit here'}`.trim(),
        )
      return best.flatMap((inner) =>
        explainIssue({ ...inner, path: [...path, ...inner.path] }, valueAt, jobFile, service),
      )
    }
    case 'invalid_type':
      if (value === undefined) return one(`is missing; expected ${withArticle(issue.expected)}`)
      if (path.at(-1) === 'window' && typeof value === 'string' && parseSpan(value))
        return one(`${shown} is not a window; did you mean { last: ${value} }?`)
      if (issue.expected === 'array' && typeof value !== 'object')
        return one(`${shown} is not a list${value === 'all' ? '' : `; write [${String(value)}]`}`)
      return one(
        `${shown} ${issue.message.startsWith('is not') ? issue.message : `is not ${withArticle(issue.expected)}`}`,
      )
    case 'too_small':
    case 'too_big':
      return one(sizeMistake(issue, shown))
    case 'custom':
      return isRule(issue) ? [{ path, key: true, message: issue.message }] : one(`${shown} ${issue.message}`)
    default:
      return one(shown === undefined ? issue.message : `${shown} ${issue.message}`)
  }
}

const withArticle = (type: string): string => `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`

/** A number, list or text outside its limits. */
function sizeMistake(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig, shown: string): string {
  if (issue.code === 'too_small' && issue.origin !== 'number' && issue.origin !== 'int') return `${shown} is empty`
  const limit =
    issue.code === 'too_small'
      ? `${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`
      : `at most ${issue.maximum}`
  return `${shown} is too ${issue.code === 'too_small' ? 'small' : 'large'}; expected ${limit}`
}

/** The number of issues about the type of the whole value. */
const misfits = (errors: readonly z.core.$ZodIssue[]): number =>
  errors.filter(({ code, path }) => path.length === 0 && (code === 'invalid_type' || code === 'invalid_value')).length

const wrongTypes = (errors: readonly z.core.$ZodIssue[]): number =>
  errors.filter(({ code }) => code === 'invalid_type' || code === 'unrecognized_keys').length

/** The keys that a schema allows at a path. */
export function keysAt(path: DocumentPath, jobFile: z.ZodType): readonly string[] {
  let schemas: z.ZodType[] = [jobFile]
  for (const part of path)
    schemas = schemas
      .flatMap((schema) => inside(schema))
      .flatMap((schema) => {
        const { shape, element } = schema as unknown as { shape?: Record<string, z.ZodType>; element?: z.ZodType }
        const next = typeof part === 'number' ? element : shape?.[String(part)]
        return next ? [next] : []
      })
  return [
    ...new Set(
      schemas
        .flatMap((schema) => inside(schema))
        .flatMap((schema) => Object.keys((schema as unknown as { shape?: object }).shape ?? {})),
    ),
  ]
}

/** The schemas inside optional ones and unions. */
function inside(schema: z.ZodType): z.ZodType[] {
  const { def } = schema as unknown as { def: { type: string; innerType?: z.ZodType; options?: z.ZodType[] } }
  if (def.type === 'optional' && def.innerType) return inside(def.innerType)
  if (def.type === 'union' && def.options) return def.options.flatMap(inside)
  return [schema]
}
