import type { Service } from '../service/service.ts'
import { SERVICES } from '../service/services.ts'
import { InputError } from '../util/errors.ts'
import { pathText } from '../util/json.ts'
import { isRule, type JobFile, jobFileSchema, jobName, notifyEntry } from './file/jobFile.ts'
import { type ExplainedMistake, explainIssue, listValidKeys } from './file/mistakes.ts'
import { type DocumentPath, parseYaml } from './file/yaml.ts'
import type { Job } from './job.ts'
import { normalizeJob, toNotify } from './normalize.ts'
import { isNotifyUrl, type Notify } from './notification.ts'
import { isReservedName } from './reservedNames.ts'

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

interface ReadResult {
  readonly mistakes: readonly Mistake[]
  readonly job: JobFile | null
}

function readText(text: string, file: string, service: Service): ReadResult {
  const { mistakes: textMistakes, parsed } = parseYaml(text)
  const mistakes = textMistakes.map((mistake): Mistake => ({ file, path: '', ...mistake }))
  if (!parsed) return { mistakes, job: null }
  const { value, positionOf } = parsed
  const placed = ({ path, message, isKey }: ExplainedMistake): Mistake => ({
    file,
    ...positionOf(path, isKey),
    path: pathText(path),
    message,
  })
  // A job is checked once, which is faster than compiling the check.
  const checked = jobFileSchema(service).safeParse(value, { jitless: true, error: listValidKeys })
  const issues = checked.error?.issues ?? []
  const explain = (explained: typeof issues): Mistake[] =>
    explained.flatMap((issue) => explainIssue(issue, valueAt(value)).map(placed))
  const illegal = explain(issues.filter((issue) => !isRule(issue)))
  // Broken rules are not reported for illegal values.
  const illegalPaths = new Set(illegal.map(({ path }) => path))
  const broken = explain(issues.filter(isRule)).filter(({ path }) => !illegalPaths.has(path))
  const found = [...mistakes, ...illegal, ...broken]
  return { mistakes: found, job: found.length === 0 && checked.success ? checked.data : null }
}

/** Lists every mistake of a job file by line. */
export const findMistakes = (text: string, file: string, service: Service = SERVICES.generic): Mistake[] =>
  [...readText(text, file, service).mistakes].sort((a, b) => a.line - b.line || a.column - b.column)

/** A mistake in one line. */
export const mistakeText = ({ file, line, column, path, message }: Mistake): string =>
  `${file}:${line}:${column}  ${path === '' ? '' : `${path}  `}${message}`

/** Reads a job file for a service. Throws one InputError with every mistake. */
export function readJob(text: string, file: string, service: Service = SERVICES.generic): Job {
  const { job } = readText(text, file, service)
  if (job) return normalizeJob(job, service, file)
  throw new InputError(findMistakes(text, file, service).map(mistakeText).join('\n'), { code: 'bad-job' })
}

/** What is known of a job whose file has mistakes elsewhere. */
export interface JobHeader {
  /** Its name; null if it is not valid. */
  readonly name: string | null
  readonly notify: readonly Notify[]
}

/** Reads the name of a job and its valid addresses for notifications. A text that is not YAML has neither. */
export function readHeader(text: string): JobHeader {
  const at = valueAt(parseYaml(text).parsed?.value)
  const name = jobName.safeParse(at(['name'])).data ?? null
  const entries = [at(['notify']) ?? []].flat().flatMap((entry) => notifyEntry.safeParse(entry).data ?? [])
  const notify = toNotify(entries).filter(({ url }) => isNotifyUrl(url))
  return { name: name === null || isReservedName(name) ? null : name, notify }
}

/** The text of a job file. */
export interface JobText {
  /** Its path for messages. */
  readonly file: string
  /** Its path without links: one file may be given twice. */
  readonly realPath: string
  readonly text: string
}

/** Lists the job files of a command whose name is that of an earlier file: such jobs would erase each other. */
export function findSameNames(files: readonly JobText[]): Mistake[] {
  const named = files.flatMap(({ text, ...file }) => {
    const { parsed } = parseYaml(text)
    const name = parsed && valueAt(parsed.value)(['name'])
    return typeof name === 'string' ? [{ ...file, name, ...parsed!.positionOf(['name'], true) }] : []
  })
  return named.flatMap(({ file, realPath, name, line, column }, i) => {
    const first = named.slice(0, i).find((other) => other.name === name && other.realPath !== realPath)
    if (!first) return []
    const message = `${JSON.stringify(name)} is also the name of ${first.file}; give each job a name of its own`
    return [{ file, line, column, path: 'name', message }]
  })
}
