import {
  type Document,
  isAlias,
  isCollection,
  isPair,
  LineCounter,
  type Node,
  parseAllDocuments,
  visit,
  type YAMLError,
} from 'yaml'

/** A place in a file, counted from 1. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** Something that is wrong with the text itself. */
export interface TextMistake extends Place {
  readonly message: string
}

/** A path into a document: keys and positions. */
export type Path = readonly PropertyKey[]

/** A YAML document as plain values, with the places of its parts. */
export interface Parsed {
  readonly value: unknown
  /** Where a path stands, or the nearest part above it that exists; `key`: the key rather than its value. */
  readonly placeOf: (path: Path, key: boolean) => Place
  /** Whether a key stands at the top. */
  readonly has: (key: PropertyKey) => boolean
}

const MAX_LENGTH = 1024 * 1024
const MAX_DEPTH = 16
const MAX_ALIASES = 20

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

/** The node at a path, or the nearest one above it that exists. */
function nodeAt(document: Document, path: Path, key: boolean): Node | null {
  for (let length = path.length; length >= 0; length--) {
    const part = path.slice(0, length) as (string | number)[]
    if (length === path.length && key && length > 0) {
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

/** What the parser says, in our words; a key that stands twice is named. */
const wordsOf = ({ code, message, pos }: YAMLError, text: string): string =>
  code === 'DUPLICATE_KEY'
    ? `${/^[^:\s]*/.exec(text.slice(pos[0]))?.[0] ?? 'a key'} stands twice in the same place; keep one`
    : `is not valid YAML: ${message.split('\n')[0]?.replace(/ at line .*$/, '')}`

/**
 * Reads the YAML of a job file: one document, of bounded size and depth. What is wrong with the text comes in `mistakes`;
 * `parsed` is null when nothing can be read from it at all.
 */
export function parseYaml(text: string): { mistakes: readonly TextMistake[]; parsed: Parsed | null } {
  const whole = (message: string) => ({ mistakes: [{ line: 1, column: 1, message }], parsed: null })
  if (text.length > MAX_LENGTH) return whole('is over 1 MiB, which no job file is')
  if (/^(?:\uFFFD\uFFFD|\uFEFF?.?\0)/s.test(text)) return whole('is not UTF-8 but looks like UTF-16; save it as UTF-8')
  if (nestsDeeply(text)) return whole(`nests deeper than ${MAX_DEPTH} levels, which no job does`)
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter: lines, uniqueKeys: true, schema: 'core' })
  if (!Array.isArray(documents) || documents.length === 0 || documents[0]?.contents === null)
    return whole('is empty; `indicator-sync init` writes a job file to start from')
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const [document] = documents as [Document]
  const mistakes = document.errors.map((error) => ({ ...place(error.pos[0]), message: wordsOf(error, text) }))
  if (document.errors.some(({ code }) => code !== 'DUPLICATE_KEY')) return { mistakes, parsed: null }
  if (documents.length > 1) return whole('holds several YAML documents; a job file is one')
  const bad = bomb(document)
  if (bad) return whole(bad)
  return {
    mistakes,
    parsed: {
      value: document.toJS({ maxAliasCount: MAX_ALIASES * 10 }),
      has: (key) => document.has(key),
      placeOf: (path, key) => place(nodeAt(document, path, key)?.range?.[0] ?? 0),
    },
  }
}
