import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { gzipSync } from 'node:zlib'
import { STYLE } from './style/style.ts'

/** A file that the page needs: small, known, and the same until this program is another one. */
export interface Asset {
  readonly type: string
  readonly body: Buffer
  readonly gzip: Buffer
}

const SCRIPT = 'text/javascript; charset=utf-8'
const CLIENT = new URL('./client/', import.meta.url)

/** The mark of the page: a curve. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b57a4"/><path d="M2 11h3V6h3v3h3V4h3" fill="none" stroke="#fff" stroke-width="1.5"/></svg>`

/** Names of modules as the browser takes them: ours beside it, and the one package that is served. */
const resolved = (code: string): string =>
  code
    .replaceAll(/(\bfrom\s*|\bimport\s*\(?\s*)(['"])(\.\/[\w-]+)\.[tj]s\2/g, '$1$2$3.js$2')
    .replaceAll(/(\bfrom\s*)(['"])uplot\2/g, '$1$2./uplot.js$2')

/** Code as the browser needs it: without comments of their own lines and the space before lines, which are for who reads the source. */
const lean = (code: string): string =>
  code
    .replaceAll(/^[ \t]*\/\*[\s\S]*?\*\/[ \t]*$/gm, '')
    .replaceAll(/^[ \t]*\/\/.*$/gm, '')
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(/\n\s*/g, '\n')

/** A module without its types. Node says each time that this is an experiment; a person who opens a page need not know. */
function withoutTypes(code: string): string {
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    return stripTypeScriptTypes(code)
  } finally {
    process.emitWarning = emitWarning
  }
}

/** The modules of `client/`: as they are written, their types taken away, or as they were built. */
function modules(): [name: string, code: string][] {
  return readdirSync(CLIENT)
    .filter((file) => /^[\w-]+\.[tj]s$/.test(file))
    .map((file) => {
      const code = readFileSync(new URL(file, CLIENT), 'utf8')
      return [file.replace(/\.ts$/, '.js'), resolved(lean(file.endsWith('.ts') ? withoutTypes(code) : code))]
    })
}

/** The chart library as a module: it comes as a script that sets a variable. */
function uplot(): string {
  const file = new URL('uPlot.iife.min.js', import.meta.resolve('uplot'))
  return `${readFileSync(file, 'utf8')}\nexport default uPlot\n`
}

const uplotStyle = (): string => readFileSync(new URL('uPlot.min.css', import.meta.resolve('uplot')), 'utf8')

function texts(): [name: string, type: string, text: string][] {
  return [
    ['page.css', 'text/css; charset=utf-8', `${uplotStyle()}\n${STYLE}`],
    ['icon.svg', 'image/svg+xml', ICON],
    ['uplot.js', SCRIPT, uplot()],
    ...modules().map(([name, code]): [string, string, string] => [name, SCRIPT, code]),
  ]
}

/** All files, and the name of their folder, which is another one when any of them is. */
export interface Assets {
  readonly folder: string
  readonly files: ReadonlyMap<string, Asset>
}

let made: Assets | undefined

/** Reads the files of the page; once, when they are first asked for. */
export function assets(): Assets {
  if (made) return made
  const all = texts()
  const folder = createHash('sha256').update(JSON.stringify(all)).digest('base64url').slice(0, 12)
  const files = all.map(([name, type, text]): [string, Asset] => {
    const body = Buffer.from(text)
    return [name, { type, body, gzip: gzipSync(body) }]
  })
  made = { folder, files: new Map(files) }
  return made
}
