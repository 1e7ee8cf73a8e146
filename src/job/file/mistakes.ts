import type { z } from 'zod'
import { didYouMean } from '../../util/didYouMean.ts'
import { parseDuration } from '../moment.ts'
import { isRule } from './jobFile.ts'
import type { DocumentPath } from './yaml.ts'

/** A mistake at a path of a job. `isKey`: it is in the key, not in its value. */
export interface ExplainedMistake {
  readonly path: DocumentPath
  readonly message: string
  readonly isKey: boolean
}

/** Makes the valid keys the message of issues about unknown keys. */
export const listValidKeys: z.core.$ZodErrorMap = ({ code, inst }) =>
  code === 'unrecognized_keys' ? Object.keys((inst as z.ZodObject).shape).join(', ') : undefined

/** Translates an issue of zod, with a message of `listValidKeys`. Each unknown key is a mistake of its own. */
export function explainIssue(issue: z.core.$ZodIssue, valueAt: (path: DocumentPath) => unknown): ExplainedMistake[] {
  const { path } = issue
  const value = valueAt(path)
  // JSON has no Infinity and no NaN: it would show them as null.
  const shown = typeof value === 'number' ? String(value) : JSON.stringify(value)
  const mistake = (message: string): ExplainedMistake[] => [{ path, isKey: false, message }]
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({
        path: [...path, key],
        isKey: true,
        message: `unknown key; valid keys: ${issue.message}.${didYouMean(key, issue.message.split(', '))}`,
      }))
    case 'invalid_value': {
      const legal = issue.values.map(String)
      return mistake(`${shown} is not valid; expected one of: ${legal.join(', ')}.${didYouMean(String(value), legal)}`)
    }
    case 'invalid_union': {
      const branches = issue.errors.filter((errors) => errors.length > 0)
      // The best branch of a union fits the type of the value, or has the fewest issues.
      const best =
        [...branches].sort(
          (a, b) => countMisfits(a) - countMisfits(b) || countWrongTypes(a) - countWrongTypes(b) || a.length - b.length,
        )[0] ?? []
      if (value === null || typeof value !== 'object')
        return mistake(
          `${shown ?? ''} ${issue.message.startsWith('does not') ? issue.message : 'does not fit here'}`.trim(),
        )
      return best.flatMap((inner) => explainIssue({ ...inner, path: [...path, ...inner.path] }, valueAt))
    }
    case 'invalid_type':
      if (value === undefined) return mistake(`is missing; expected ${withArticle(issue.expected)}`)
      if (path.at(-1) === 'window' && typeof value === 'string' && parseDuration(value))
        return mistake(`${shown} is not a window; did you mean { last: ${value} }?`)
      if (issue.expected === 'array' && typeof value !== 'object')
        return mistake(`${shown} is not a list${value === 'all' ? '' : `; write [${String(value)}]`}`)
      return mistake(
        `${shown} ${issue.message.startsWith('is not') ? issue.message : `is not ${withArticle(issue.expected)}`}`,
      )
    case 'too_small':
    case 'too_big':
      return mistake(sizeMistake(issue, shown))
    case 'custom':
      return isRule(issue) ? [{ path, isKey: true, message: issue.message }] : mistake(`${shown} ${issue.message}`)
    default:
      return mistake(shown === undefined ? issue.message : `${shown} ${issue.message}`)
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
const countMisfits = (errors: readonly z.core.$ZodIssue[]): number =>
  errors.filter(({ code, path }) => path.length === 0 && (code === 'invalid_type' || code === 'invalid_value')).length

const countWrongTypes = (errors: readonly z.core.$ZodIssue[]): number =>
  errors.filter(({ code }) => code === 'invalid_type' || code === 'unrecognized_keys').length
