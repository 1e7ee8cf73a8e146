/*
 * `npm run prose`: lists long sentences and unclear words in pages and comments, and misspelled words in pages.
 * Also lists paths in comments, in diagrams and in docs/architecture.md that do not exist.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** Maximum number of words of a sentence. */
const MOST_WORDS = 30

/** Words that this project once used with a meaning of its own. */
const PRIVATE_WORDS = /\b(held|wanted|brought|unasked|in hand|hand(ed)? out|give[sn]? back|(in )?doubt)\b/i

/** Words that comments do not use either, because they had several meanings: a comment says `reply`, `response` or `result`. */
const UNCLEAR_WORDS = /\b(answer(s|ed|ing)?|handed|under way|what nobody)\b/i

/** Folders whose comments are checked, in addition to the configuration files. */
const SOURCE_FOLDERS = ['bench', 'build', 'migrations', 'src', 'test']

const listFiles = (folder: string): string[] =>
  (readdirSync(folder, { recursive: true }) as string[]).map((name) => `${folder}/${name}`)

const pages = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  'examples/README.md',
  ...listFiles('docs').filter((name) => name.endsWith('.md')),
]
const sources = [...readdirSync('.'), ...SOURCE_FOLDERS.flatMap(listFiles)].filter((name) => /\.m?[tj]s$/.test(name))

interface Block {
  readonly line: number
  readonly text: string
}

/** Paragraphs, items and cells of a page, each with its line; without code and pictures. */
function blocks(page: string): Block[] {
  const found: Block[] = []
  let open = false
  let fenced = false
  for (const [i, raw] of readFileSync(page, 'utf8').split('\n').entries()) {
    if (raw.startsWith('```')) fenced = !fenced
    const isText = !fenced && raw !== '' && !raw.startsWith('```') && !raw.startsWith('#') && !raw.startsWith('![')
    if (!isText) {
      open = false
      continue
    }
    if (raw.startsWith('|')) for (const cell of raw.split(/(?<!\\)\|/)) found.push({ line: i + 1, text: cell.trim() })
    else if (!open || /^\s*([-*]|\d+\.) /.test(raw)) found.push({ line: i + 1, text: raw })
    else found.push({ line: found.at(-1)!.line, text: `${found.pop()!.text} ${raw.trim()}` })
    open = !raw.startsWith('|')
  }
  return found
}

/** The Mermaid diagrams of a page, a block for each line. */
function diagramLines(page: string): Block[] {
  const text = readFileSync(page, 'utf8')
  return [...text.matchAll(/^```mermaid\n([\s\S]*?)^```/gm)].flatMap(({ 1: diagram, index }) => {
    const first = text.slice(0, index).split('\n').length + 1
    return diagram!.split('\n').map((line, i) => ({ line: first + i, text: line }))
  })
}

/** Sentences of a text; a list after a colon counts as a sentence of its own. */
const sentences = (text: string): string[] =>
  text
    .replaceAll(/`[^`]*`(, `[^`]*`)*/g, 'CODE')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split(/(?<=[.!?:;])\)?\**\s+/)
const countWords = (sentence: string): number => sentence.split(/\s+/).filter((word) => /\w/.test(word)).length

/** The comments of a source file. Adjacent lines of `//` are one comment. */
const comments = (text: string): Block[] =>
  [...text.matchAll(/^[ \t]*\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/ .*\n)+|\s\/\/ .*$/gm)].map(({ 0: comment, index }) => ({
    line: text.slice(0, index).split('\n').length,
    text: comment
      .replaceAll(/^\s*(\/\*\*?|\*\/|\*|\/\/)|\*\/$/gm, '')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  }))

function findFaults(file: string, { line, text }: Block, words: readonly RegExp[]): string[] {
  return sentences(text).flatMap((sentence) => [
    ...(countWords(sentence) > MOST_WORDS ? [`${file}:${line}: ${countWords(sentence)} words: ${sentence}`] : []),
    ...words.flatMap((pattern) => {
      const [word] = pattern.exec(sentence) ?? []
      return word ? [`${file}:${line}: "${word}": ${sentence}`] : []
    }),
  ])
}

const files = ['.ci', 'bench', 'build', 'docs', 'examples', 'migrations', 'src', 'test'].flatMap(listFiles)

/** Lists the paths in a text that match no file of the project. */
const findMissingFiles = (file: string, { line, text }: Block): string[] =>
  [...text.matchAll(/(?<![\w@/:.-])[\w-]+(?:\/[\w.-]+)*\.(?:ts|md|sql|css)\b/g)]
    .map(([path]) => path)
    .filter((path) => !existsSync(path) && !files.some((name) => name.endsWith(`/${path}`)))
    .map((path) => `${file}:${line}: ${path} does not exist`)

const findings = [
  ...pages.flatMap((page) => blocks(page).flatMap((block) => findFaults(page, block, [PRIVATE_WORDS]))),
  ...sources.flatMap((file) =>
    comments(readFileSync(file, 'utf8')).flatMap((block) => findFaults(file, block, [PRIVATE_WORDS, UNCLEAR_WORDS])),
  ),
  ...sources.flatMap((file) => comments(readFileSync(file, 'utf8')).flatMap((block) => findMissingFiles(file, block))),
  ...pages.flatMap((page) => diagramLines(page).flatMap((block) => findMissingFiles(page, block))),
  ...blocks('docs/architecture.md').flatMap((block) => findMissingFiles('docs/architecture.md', block)),
]
for (const finding of findings) process.stderr.write(`${finding}\n`)
let failed = findings.length > 0
if (existsSync('node_modules/cspell')) {
  const { status } = spawnSync('npm run --silent spell', { shell: true, stdio: 'inherit' })
  if (status !== 0) process.stderr.write('Correct the words, or add them to build/words.txt.\n')
  failed ||= status !== 0
} else process.stderr.write('The spelling is not checked: cspell is not installed. Run npm ci.\n')
process.exit(failed ? 1 : 0)
