import { type Document, isAlias, isCollection, isPair, LineCounter, type Node, parseAllDocuments, visit } from 'yaml'
import type { z } from 'zod'
import { InputError } from '../base/errors.ts'
import { didYouMean } from '../base/suggest.ts'
import { type JobFile, jobFile } from './file.ts'
import type { Job } from './job.ts'
import { meanJob } from './mean.ts'
import { brokenRules } from './rules.ts'

/** Something wrong in a job file, with its place (counted from 1). */
export interface Mistake {
  readonly file: string
  readonly line: number
  readonly column: number
  /** Where in the job: `series[0].timeAgg`; empty for the file as a whole. */
  readonly path: string
  readonly message: string
}

const MAX_LENGTH = 1024 * 1024
const MAX_DEPTH = 16
const MAX_ALIASES = 20

type Path = readonly PropertyKey[]

const pathText = (path: Path): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  )

/** The node at a path, or the nearest one above it that exists. */
function nodeAt(document: Document, path: Path, key: boolean): Node | null {
  for (let length = path.length; length >= 0; length--) {
    const part = path.slice(0, length) as (string | number)[]
    const whole = length === path.length
    if (whole && key && length > 0) {
      const parent = document.getIn(part.slice(0, -1), true)
      const pair = isCollection(parent)
        ? parent.items.find((item) => isPair(item) && String(item.key) === String(part.at(-1)))
        : undefined
      if (isPair(pair)) return pair.key as Node
    }
    const node = length === 0 ? document.contents : document.getIn(part, true)
    if (node && typeof node === 'object' && 'range' in node) return node as Node
  }
  return document.contents as Node | null
}

/** Says in our words what zod found. One issue may be several mistakes: each unknown key is one. */
function explain(
  issue: z.core.$ZodIssue,
  schemaKeys: (path: Path) => readonly string[],
  valueAt: (path: Path) => unknown,
): { path: Path; message: string; key: boolean }[] {
  const { path } = issue
  const value = valueAt(path)
  const shown = JSON.stringify(value)
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const known = schemaKeys(path)
        return {
          path: [...path, key],
          key: true,
          message: `is no key here; legal: ${known.join(', ')}.${didYouMean(key, known)}`,
        }
      })
    case 'invalid_value': {
      const legal = issue.values.map(String)
      return [
        {
          path,
          key: false,
          message: `${shown} is not legal; legal: ${legal.join(', ')}.${didYouMean(String(value), legal)}`,
        },
      ]
    }
    case 'invalid_union': {
      const branches = issue.errors.filter((errors) => errors.length > 0)
      // The branch that fits best is the one that complains least about types.
      const best = [...branches].sort((a, b) => wrongTypes(a) - wrongTypes(b) || a.length - b.length)[0] ?? []
      if (value === null || typeof value !== 'object')
        return [{ path, key: false, message: `${shown} does not fit here` }]
      return best.flatMap((inner) => explain({ ...inner, path: [...path, ...inner.path] }, schemaKeys, valueAt))
    }
    case 'invalid_type':
      return [
        {
          path,
          key: false,
          message:
            value === undefined
              ? `is missing (${issue.expected})`
              : issue.message.startsWith('is no')
                ? `${shown} ${issue.message}`
                : `${shown} is no ${issue.expected}`,
        },
      ]
    case 'custom':
      return [{ path, key: false, message: `${shown} ${issue.message}` }]
    default:
      return [{ path, key: false, message: `${shown === undefined ? '' : `${shown}: `}${issue.message}` }]
  }
}

const wrongTypes = (errors: readonly z.core.$ZodIssue[]): number =>
  errors.filter(({ code }) => code === 'invalid_type' || code === 'unrecognized_keys').length

/** The keys that the schema allows at a path. */
function keysAt(path: Path): readonly string[] {
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

/** A schema without its wrappers: what may be left out, and the branches of a union. */
function inside(schema: z.ZodType): z.ZodType[] {
  const { def } = schema as unknown as { def: { type: string; innerType?: z.ZodType; options?: z.ZodType[] } }
  if (def.type === 'optional' && def.innerType) return inside(def.innerType)
  if (def.type === 'union' && def.options) return def.options.flatMap(inside)
  return [schema]
}

/** How deep a document nests, and how many aliases it uses: what a bomb is made of. */
function bomb(document: Document): string | undefined {
  let deepest = 0
  let aliases = 0
  visit(document, {
    Node(_key, node, path) {
      deepest = Math.max(deepest, path.length / 2)
      if (isAlias(node)) aliases++
    },
  })
  if (deepest > MAX_DEPTH) return `nests deeper than ${MAX_DEPTH} levels, which no job does`
  if (aliases > MAX_ALIASES) return `uses more than ${MAX_ALIASES} aliases, which no job does`
  return undefined
}

/** Whether brackets or indentation go far deeper than any job; told in one pass before parsing, which is recursive. */
function nestsDeeply(text: string): boolean {
  let open = 0
  for (const letter of text) {
    if (letter === '[' || letter === '{') open++
    else if (letter === ']' || letter === '}') open--
    if (open > 100) return true
  }
  return /^ {400}/m.test(text) || /(?:- ){100}/.test(text)
}

interface Read {
  readonly mistakes: readonly Mistake[]
  readonly job: JobFile | null
}

function read(text: string, file: string): Read {
  const single = (message: string, line = 1, column = 1): Read => ({
    mistakes: [{ file, line, column, path: '', message }],
    job: null,
  })
  if (text.length > MAX_LENGTH) return single('is over 1 MiB, which no job file is')
  if (nestsDeeply(text)) return single(`nests deeper than ${MAX_DEPTH} levels, which no job does`)
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: lines, uniqueKeys: true, schema: 'core' })
  if (!Array.isArray(documents) || documents.length === 0 || documents[0]?.contents === null)
    return single('is empty; `indicator-sync init` writes a job file to start from')
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const [document] = documents as [Document]
  if (document.errors.length > 0)
    return {
      mistakes: document.errors.map((error) => ({
        file,
        ...place(error.pos[0]),
        path: '',
        message: `is no YAML: ${error.message.split('\n')[0]?.replace(/ at line .*$/, '')}`,
      })),
      job: null,
    }
  if (documents.length > 1) return single('holds several YAML documents; a job file is one')
  const bad = bomb(document)
  if (bad) return single(bad)
  const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES * 10 })
  const valueAt = (path: Path): unknown =>
    path.reduce<unknown>(
      (inner, part) =>
        inner === null || typeof inner !== 'object' ? undefined : (inner as Record<PropertyKey, unknown>)[part],
      value,
    )
  const mistake = ({ path, message, key }: { path: Path; message: string; key: boolean }): Mistake => {
    const node = nodeAt(document, path, key)
    return { file, ...place(node?.range?.[0] ?? 0), path: pathText(path), message }
  }
  const parsed = jobFile.safeParse(value)
  if (!parsed.success)
    return { mistakes: parsed.error.issues.flatMap((issue) => explain(issue, keysAt, valueAt)).map(mistake), job: null }
  const broken = brokenRules(parsed.data).map(({ path, message }) => mistake({ path, message, key: true }))
  return { mistakes: broken, job: broken.length === 0 ? parsed.data : null }
}

/** Every mistake of a job file, in the order of its lines. */
export const findMistakes = (text: string, file: string): Mistake[] =>
  [...read(text, file).mistakes].sort((a, b) => a.line - b.line || a.column - b.column)

/** A mistake in one line. */
export const mistakeText = ({ file, line, column, path, message }: Mistake): string =>
  `${file}:${line}:${column}  ${path === '' ? '' : `${path}  `}${message}`

/** Reads a job file. Throws one InputError that tells every mistake. */
export function readJob(text: string, file: string): Job {
  const { job } = read(text, file)
  if (job) return meanJob(job)
  throw new InputError(findMistakes(text, file).map(mistakeText).join('\n'), { code: 'bad-job' })
}
