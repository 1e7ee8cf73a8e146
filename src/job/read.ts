import type { Service } from '../service/service.ts'
import { SERVICES } from '../service/services.ts'
import { InputError } from '../util/errors.ts'
import { isObject, pathText } from '../util/json.ts'
import { isRule, type JobFile, jobFileSchema } from './file/jobFile.ts'
import { type ExplainedMistake, explainIssue, keysAt } from './file/mistakes.ts'
import { type DocumentPath, parseYaml } from './file/yaml.ts'
import type { Job } from './job.ts'
import { normalizeJob } from './normalize.ts'

/** A mistake in a job file, with its line and column (counted from 1). */
export interface Mistake {
  /** The job file. */
  readonly file: string
  /** The line, from 1. */
  readonly line: number
  /** The column, from 1. */
  readonly column: number
  /** The path in the job: `series[0].timeAgg`; empty for the file as a whole. */
  readonly path: string
  /** What is wrong. */
  readonly message: string
}

/** The value at a path; undefined where there is none. */
const valueAt =
  (value: unknown) =>
  (path: DocumentPath): unknown =>
    path.reduce<unknown>(
      (inner, part) =>
        inner === null || typeof inner !== 'object' ? undefined : (inner as Record<PropertyKey, unknown>)[part],
      value,
    )

interface Read {
  readonly mistakes: readonly Mistake[]
  readonly job: JobFile | null
}

/** Reads the job file that another one extends: `name` is relative to `from`. Throws InputError where it cannot be read. */
export type ReadOther = (name: string, from: string) => { readonly file: string; readonly text: string }

/** A job file merged with those that it extends; its own keys win. */
interface Layers {
  readonly mistakes: readonly Mistake[]
  /** Null when a file cannot be read as YAML. */
  readonly value: unknown
  readonly positionOf: (path: DocumentPath, key: boolean) => Pick<Mistake, 'file' | 'line' | 'column'>
  readonly has: (key: PropertyKey) => boolean
}

/** Merges a job with the one that it extends: its own keys win, of `pace` its own limits. `name` and `extends` are not inherited. */
function extend(own: Readonly<Record<string, unknown>>, base: unknown): unknown {
  if (!isObject(base)) return own
  const { name: _name, extends: _extends, ...shared } = base
  const pace = isObject(own.pace) && isObject(shared.pace) ? { pace: { ...shared.pace, ...own.pace } } : {}
  return { ...shared, ...own, ...pace }
}

function readLayers(
  text: string,
  file: string,
  readOther: ReadOther,
  legalKeys: readonly string[],
  above: readonly string[] = [],
): Layers {
  const { mistakes, parsed } = parseYaml(text)
  const isExtended = above.length > 0
  // A file that is named by mistake may be a secret: its lines are not quoted.
  const unquoted = isExtended ? { message: `has a mistake; \`indicator-sync validate ${file}\` shows it` } : {}
  const wrong = mistakes.map((mistake): Mistake => ({ file, path: '', ...mistake, ...unquoted }))
  const nowhere = { file, line: 1, column: 1 }
  if (!parsed) return { mistakes: wrong, value: null, positionOf: () => nowhere, has: () => false }
  const { value, positionOf, has } = parsed
  const here: Layers['positionOf'] = (path, key) => ({ file, ...positionOf(path, key) })
  const strange = isObject(value) ? Object.keys(value).some((key) => !legalKeys.includes(key)) : true
  if (isExtended && strange) {
    const message = isObject(value)
      ? `has an unknown key; \`indicator-sync validate ${file}\` shows it`
      : 'is not a job file: it has no keys'
    return { mistakes: [...wrong, { ...nowhere, path: '', message }], value: null, positionOf: here, has }
  }
  const base = isObject(value) ? value.extends : undefined
  if (!isObject(value) || typeof base !== 'string') return { mistakes: wrong, value, positionOf: here, has }
  const refuse = (message: string): Layers => ({
    mistakes: [...wrong, { ...here(['extends'], false), path: 'extends', message }],
    value,
    positionOf: here,
    has,
  })
  let other: ReturnType<ReadOther>
  try {
    other = readOther(base, file)
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    return refuse(error.message)
  }
  const chain = [...above, file]
  if (chain.includes(other.file)) return refuse(`extends itself: ${[...chain, other.file].join(' → ')}`)
  const layer = readLayers(other.text, other.file, readOther, legalKeys, chain)
  return {
    mistakes: [...wrong, ...layer.mistakes],
    value: extend(value, layer.value),
    // A key that this file does not have is in the extended one.
    positionOf: (path, key) =>
      path.length > 0 && path[0] !== 'name' && !has(path[0]!) && layer.has(path[0]!)
        ? layer.positionOf(path, key)
        : here(path, key),
    has: (key) => has(key) || (key !== 'name' && layer.has(key)),
  }
}

const noOther: ReadOther = (name) => {
  throw new InputError(`${name} cannot be read here`, { code: 'no-job-file' })
}

function readText(text: string, file: string, readOther: ReadOther, service: Service): Read {
  const schema = jobFileSchema(service)
  const { mistakes, value, positionOf } = readLayers(text, file, readOther, keysAt([], schema))
  if (value === null) return { mistakes, job: null }
  const placed = ({ path, message, key }: ExplainedMistake): Mistake => ({
    ...positionOf(path, key),
    path: pathText(path),
    message,
  })
  // A job is checked once: to compile the check takes longer than to do it.
  const checked = schema.safeParse(value, { jitless: true })
  const issues = checked.error?.issues ?? []
  const explain = (some: typeof issues): Mistake[] =>
    some.flatMap((issue) => explainIssue(issue, valueAt(value), schema, service).map(placed))
  const illegal = explain(issues.filter((issue) => !isRule(issue)))
  // A broken rule is not reported for a path that is reported already.
  const wrongAt = new Set(illegal.map(({ path }) => path))
  const broken = explain(issues.filter(isRule)).filter(({ path }) => !wrongAt.has(path))
  const all = [...mistakes, ...illegal, ...broken]
  return { mistakes: all, job: all.length === 0 && checked.success ? checked.data : null }
}

/** Lists every mistake of a job file, after those of the files that it extends; in the order of their lines. */
export const findMistakes = (
  text: string,
  file: string,
  readOther: ReadOther = noOther,
  service: Service = SERVICES.generic,
): Mistake[] =>
  [...readText(text, file, readOther, service).mistakes].sort(
    (a, b) => Number(a.file === file) - Number(b.file === file) || a.line - b.line || a.column - b.column,
  )

/** A mistake in one line. */
export const mistakeText = ({ file, line, column, path, message }: Mistake): string =>
  `${file}:${line}:${column}  ${path === '' ? '' : `${path}  `}${message}`

/** Reads a job file for a service; `readOther` reads those that it extends. Throws one InputError with every mistake. */
export function readJob(
  text: string,
  file: string,
  readOther: ReadOther = noOther,
  service: Service = SERVICES.generic,
): Job {
  const { job } = readText(text, file, readOther, service)
  if (job) return normalizeJob(job, service, file)
  throw new InputError(findMistakes(text, file, readOther, service).map(mistakeText).join('\n'), { code: 'bad-job' })
}
