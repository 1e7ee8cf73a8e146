/*
 * Prints the size of the program: `npm run size`. Lines of code are those with more than a comment, by folder of `src`.
 * Packages are those that an installation has.
 */
import { globSync, readFileSync } from 'node:fs'

const COMMENT = /^\s*(\/\/|\/\*|\*( |\/|$)|$)/
const SMALL = 30

const linesOf = (file: string): number =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !COMMENT.test(line)).length

const table = new Map<string, { lines: number; files: number; small: number }>()
function add(part: string, lines: number): void {
  const row = table.get(part) ?? { lines: 0, files: 0, small: 0 }
  table.set(part, { lines: row.lines + lines, files: row.files + 1, small: row.small + (lines < SMALL ? 1 : 0) })
}
for (const file of globSync('{src,migrations,test,bench,build}/**/*.{ts,js,sql,css}').sort()) {
  const [top, folder] = file.split('/') as [string, string]
  const lines = linesOf(file)
  if (top === 'src') add(folder.includes('.') ? 'src/*.ts' : `src/${folder}`, lines)
  add(top, lines)
}

function row(name: string, ...cells: (string | number)[]): void {
  process.stdout.write(`${name.padEnd(16)}${cells.map((cell) => String(cell).padStart(8)).join('')}\n`)
}
row('', 'lines', 'files', `< ${SMALL}`)
for (const [part, { lines, files, small }] of [...table].sort(([a], [b]) => (a < b ? -1 : 1)))
  row(part, lines, files, small)

interface Lock {
  readonly packages: Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean; peer?: boolean }>
}
const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object }
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock
const installed = Object.entries(packages).filter(
  ([path, { dev, optional, devOptional }]) => path !== '' && !dev && !optional && !devOptional,
)
process.stdout.write(
  `\nruntime packages: ${Object.keys(dependencies).length} direct, ${installed.length} with their own\n`,
)
