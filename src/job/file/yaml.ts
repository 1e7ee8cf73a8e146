import { type Document, isMap, isNode, LineCounter, type Node, parseAllDocuments, type YAMLError } from 'yaml'

/** A position in a file, counted from 1. */
interface Position {
  readonly line: number
  readonly column: number
}

/** A mistake in the text. */
export interface TextMistake extends Position {
  readonly message: string
}

/** A path into a document: keys and indexes. */
export type DocumentPath = readonly PropertyKey[]

/** A YAML document as plain values, with the positions of its parts. */
export interface ParsedDocument {
  readonly value: unknown
  /** The position of a path, or of the nearest part above it that exists; `isKey`: of the key rather than of its value. */
  readonly positionOf: (path: DocumentPath, isKey: boolean) => Position
}

const MAX_CHARACTERS = 1024 * 1024
/** The node at a path, or the nearest one above it that exists. */
function nodeAt(document: Document, path: DocumentPath, isKey: boolean): Node | null {
  const parent = document.getIn(path.slice(0, -1), true)
  const pair = isKey && isMap(parent) && parent.items.find((item) => String(item.key) === String(path.at(-1)))
  if (pair) return pair.key as Node
  const node = document.getIn(path, true)
  return isNode(node) || path.length === 0 ? (node as Node | null) : nodeAt(document, path.slice(0, -1), false)
}

/** Plain words for frequent errors; the parser names them in terms of its grammar. */
const PLAIN_MESSAGES: Partial<Record<YAMLError['code'], string>> = {
  BAD_INDENT: 'a bracket is not closed before this place, or the line is not indented enough',
  BAD_SCALAR_START: 'put a text that starts with this character in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'two keys follow each other; align keys in one column, and put a text with a colon in quotes',
  MULTILINE_IMPLICIT_KEY: 'a key lacks its colon',
  RESOURCE_EXHAUSTION: 'it is nested too deeply',
  TAB_AS_INDENT: 'indent with spaces, not with tabs',
}

/** The message for an error of the parser; a repeated key is named. */
const yamlMessage = ({ code, message, pos }: YAMLError, text: string): string =>
  code === 'DUPLICATE_KEY'
    ? `${/^[^:\s]*/.exec(text.slice(pos[0]))?.[0] ?? 'a key'} is a duplicate key; keep one`
    : `is not valid YAML: ${PLAIN_MESSAGES[code] ?? message.split('\n')[0]?.replace(/ at line .*$/, '')}`

/**
 * Parses the YAML of a job file: one document of limited size. `mistakes` are those of the text; `parsed` is null if
 * the text cannot be read.
 */
export function parseYaml(text: string): { mistakes: readonly TextMistake[]; parsed: ParsedDocument | null } {
  const refuse = (message: string) => ({ mistakes: [{ line: 1, column: 1, message }], parsed: null })
  if (text.length > MAX_CHARACTERS) return refuse('is too large for a job file (limit 1 MiB)')
  if (/^(?:\uFFFD\uFFFD|\uFEFF?.?\0)/s.test(text)) return refuse('is not UTF-8 but looks like UTF-16; save it as UTF-8')
  const lines = new LineCounter()
  // A key that is a list or an object becomes a text. The parser would print a warning.
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    uniqueKeys: true,
    schema: 'core',
    logLevel: 'error',
  })
  if (!Array.isArray(documents) || documents.length === 0 || documents[0]?.contents === null)
    return refuse('is empty; `indicator-sync init` writes a job file to start from')
  const place = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const [document] = documents as [Document]
  const mistake = (error: YAMLError) => ({ ...place(error.pos[0]), message: yamlMessage(error, text) })
  // Later errors of the parser are mostly consequences of the first.
  const unparsable = document.errors.find(({ code }) => code !== 'DUPLICATE_KEY')
  if (unparsable) return { mistakes: [mistake(unparsable)], parsed: null }
  const mistakes = document.errors.map(mistake)
  if (documents.length > 1) return refuse('contains several YAML documents; expected one')
  let value: unknown
  try {
    value = document.toJS()
    // A value that contains itself cannot be shown in messages.
    JSON.stringify(value)
  } catch (error) {
    return refuse(`has a bad alias: ${(error as Error).message.split('\n')[0]}`)
  }
  return {
    mistakes,
    parsed: {
      value,
      positionOf: (path, isKey) => place(nodeAt(document, path, isKey)?.range?.[0] ?? 0),
    },
  }
}
