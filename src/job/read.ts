import type { Service } from '../service/service.ts'
import { SERVICES } from '../service/services.ts'
import { InputError } from '../util/errors.ts'
import { isObject, pathText } from '../util/json.ts'
import { isRule, type JobFile, jobFileSchema } from './file/jobFile.ts'
import { type ExplainedMistake, explainIssue, listValidKeys } from './file/mistakes.ts'
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

/** The value at a path; undefined if there is none. */
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

/** Reads the job file that another one extends. `name` is relative to `from`. Throws InputError if it cannot be read. */
export type ReadOther = (name: string, from: string) => { readonly file: string; readonly text: string }

/** A job file merged with those that it extends. */
interface Layers {
  readonly mistakes: readonly Mistake[]
  /** Null if a file is not valid YAML. */
  readonly value: unknown
  readonly positionOf: (path: DocumentPath, key: boolean) => Pick<Mistake, 'file' | 'line' | 'column'>
  readonly has: (key: PropertyKey) => boolean
}

/**
 * Merges a job with the one that it extends: its keys win, and the limits of its `pace`. `name` and `extends` are not
 * inherited.
 */
function extend(job: Readonly<Record<string, unknown>>, base: unknown): unknown {
  if (!isObject(base)) return job
  const { name: _name, extends: _extends, ...shared } = base
  const pace = isObject(job.pace) && isObject(shared.pace) ? { pace: { ...shared.pace, ...job.pace } } : {}
  return { ...shared, ...job, ...pace }
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
  // A file that was named by mistake may be secret, so its lines are not quoted.
  const unquoted = isExtended ? { message: `has a mistake; \`indicator-sync validate ${file}\` shows it` } : {}
  const textMistakes = mistakes.map((mistake): Mistake => ({ file, path: '', ...mistake, ...unquoted }))
  const nowhere = { file, line: 1, column: 1 }
  if (!parsed) return { mistakes: textMistakes, value: null, positionOf: () => nowhere, has: () => false }
  const { value, positionOf, has } = parsed
  const here: Layers['positionOf'] = (path, key) => ({ file, ...positionOf(path, key) })
  if (isExtended && !(isObject(value) && Object.keys(value).every((key) => legalKeys.includes(key)))) {
    const message = isObject(value)
      ? `has an unknown key; \`indicator-sync validate ${file}\` shows it`
      : 'is not a job file: it has no keys'
    return { mistakes: [...textMistakes, { ...nowhere, path: '', message }], value: null, positionOf: here, has }
  }
  const base = isObject(value) ? value.extends : undefined
  if (!isObject(value) || typeof base !== 'string') return { mistakes: textMistakes, value, positionOf: here, has }
  const refuse = (message: string): Layers => ({
    mistakes: [...textMistakes, { ...here(['extends'], false), path: 'extends', message }],
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
    mistakes: [...textMistakes, ...layer.mistakes],
    value: extend(value, layer.value),
    // Keys that this file lacks come from the extended one.
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
  const { mistakes, value, positionOf } = readLayers(text, file, readOther, Object.keys(schema.shape))
  if (value === null) return { mistakes, job: null }
  const placed = ({ path, message, key }: ExplainedMistake): Mistake => ({
    ...positionOf(path, key),
    path: pathText(path),
    message,
  })
  // A job is checked once, which is faster than compiling the check.
  const checked = schema.safeParse(value, { jitless: true, error: listValidKeys })
  const issues = checked.error?.issues ?? []
  const explain = (explained: typeof issues): Mistake[] =>
    explained.flatMap((issue) => explainIssue(issue, valueAt(value), service).map(placed))
  const illegal = explain(issues.filter((issue) => !isRule(issue)))
  // Broken rules are not reported for illegal values.
  const illegalPaths = new Set(illegal.map(({ path }) => path))
  const broken = explain(issues.filter(isRule)).filter(({ path }) => !illegalPaths.has(path))
  const found = [...mistakes, ...illegal, ...broken]
  return { mistakes: found, job: found.length === 0 && checked.success ? checked.data : null }
}

/** Lists every mistake of a job file by line, after those of the files that it extends. */
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

/** Reads a job file for a service. `readOther` reads the files that it extends. Throws one InputError with every mistake. */
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
