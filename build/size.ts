/*
 * Prints the size of the program: `npm run size`. Counts lines of code, without empty lines and comments, by folder of `src`, and the
 * packages of an installation.
 */
import { globSync, readFileSync } from 'node:fs'

const COMMENT = /^\s*(\/\/|\/\*|\*( |\/|$)|$)/
const SMALL = 30

/** Parts that a reader of the core can skip. */
const PARTS = ['page', 'emulator', 'lake', 'cluster', 'db/postgres']

const linesOf = (file: string): number =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !COMMENT.test(line)).length

const FILES = globSync('{src,migrations,test,bench,build}/**/*.{ts,js,sql,css}').sort()
const sums = new Map<string, { lines: number; files: number; small: number }>()
const used = new Map<string, number>()
function add(name: string, count: number): void {
  const { lines, files, small } = sums.get(name) ?? { lines: 0, files: 0, small: 0 }
  sums.set(name, { lines: lines + count, files: files + 1, small: small + (count < SMALL ? 1 : 0) })
}
for (const file of FILES) {
  const [top, folder] = file.split('/') as [string, string]
  const count = linesOf(file)
  add(top, count)
  if (top !== 'src') continue
  add(folder.includes('.') ? 'src/*.ts' : `src/${folder}`, count)
  const part = PARTS.find((name) => file.startsWith(`src/${name}/`)) ?? 'core'
  used.set(part, (used.get(part) ?? 0) + count)
}
used.set(
  'page texts',
  globSync('src/page/words/*.json')
    .map(linesOf)
    .reduce((sum, count) => sum + count),
)

const print = (name: string, ...cells: (string | number)[]): void => {
  process.stdout.write(`${name.padEnd(16)}${cells.map((cell) => String(cell).padStart(8)).join('')}\n`)
}
print('', 'lines', 'files', `< ${SMALL}`)
for (const [name, { lines, files, small }] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1)))
  print(name, lines, files, small)
process.stdout.write('\n')
print('part', 'lines')
for (const [part, lines] of used) print(part, lines)
printPackages()

interface Lock {
  readonly packages: Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean; peer?: boolean }>
}
function printPackages(): void {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object }
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock
  const installed = Object.entries(packages).filter(
    ([path, { dev, optional, devOptional }]) => path !== '' && !dev && !optional && !devOptional,
  )
  process.stdout.write(
    `\nruntime packages: ${Object.keys(dependencies).length} direct, ${installed.length} with their own\n`,
  )
}
