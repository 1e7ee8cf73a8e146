/* `npm run prose`: lists long sentences, words with a private meaning and misspelled words, in what users read. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** The most words of a sentence. */
const MOST_WORDS = 30

/** Words that this project once used with a meaning of its own. */
const PRIVATE_WORDS =
  /\b(held|wanted|brought|told|tells|unasked|by itself|by themselves|in hand|hand(ed)? out|give[sn]? back|(in )?doubt)\b/i

const pages = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  'examples/README.md',
  ...(readdirSync('docs', { recursive: true }) as string[])
    .map((name) => `docs/${name}`)
    .filter((name) => name.endsWith('.md')),
]

/** Paragraphs, items and cells of a page, each with its line; without code and pictures. */
function blocks(page: string): { readonly line: number; readonly text: string }[] {
  const found: { line: number; text: string }[] = []
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

/** Sentences of a text; a list after a colon counts as a sentence of its own. */
const sentences = (text: string): string[] =>
  text
    .replaceAll(/`[^`]*`(, `[^`]*`)*/g, 'CODE')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split(/(?<=[.!?:;])\)?\**\s+/)
const words = (sentence: string): number => sentence.split(/\s+/).filter((word) => /\w/.test(word)).length

const findings = pages.flatMap((page) =>
  blocks(page).flatMap(({ line, text }) =>
    sentences(text).flatMap((sentence) => [
      ...(words(sentence) > MOST_WORDS ? [`${page}:${line}: ${words(sentence)} words: ${sentence}`] : []),
      ...(PRIVATE_WORDS.test(sentence) ? [`${page}:${line}: "${PRIVATE_WORDS.exec(sentence)![0]}": ${sentence}`] : []),
    ]),
  ),
)
for (const finding of findings) process.stderr.write(`${finding}\n`)
let failed = findings.length > 0
if (existsSync('node_modules/cspell')) {
  const { status } = spawnSync('npm run --silent spell', { shell: true, stdio: 'inherit' })
  if (status !== 0) process.stderr.write('Correct the words, or add them to build/words.txt.\n')
  failed ||= status !== 0
} else process.stderr.write('The spelling is not checked: cspell is not installed. Run npm ci.\n')
process.exit(failed ? 1 : 0)
