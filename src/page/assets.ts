import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { STYLE } from './style.ts'

/** A file that pages load. */
interface Asset {
  readonly type: string
  readonly body: Buffer
}

const SCRIPT = 'text/javascript; charset=utf-8'
const CLIENT = new URL('./client/', import.meta.url)

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b57a4"/><path d="M2 11h3V6h3v3h3V4h3" fill="none" stroke="#fff" stroke-width="1.5"/></svg>`

/** Replaces the names of imported modules by their addresses. */
const resolved = (code: string): string =>
  code
    .replaceAll(/(\bfrom\s*|\bimport\s*\(?\s*)(['"])(\.\/[\w-]+)\.[tj]s\2/g, '$1$2$3.js$2')
    .replaceAll(/(\bfrom\s*)(['"])uplot\2/g, '$1$2./uplot.js$2')

/** A script that removes the types from a list of modules. It hides Node's warning that this is experimental. */
const STRIP = `
  process.emitWarning = () => undefined
  const codes = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))
  process.stdout.write(JSON.stringify(codes.map((code) => require('node:module').stripTypeScriptTypes(code))))`

/** Modules without their types. Another process removes them, because this one would keep the 50 MB for that. */
async function withoutTypes(codes: readonly string[]): Promise<string[]> {
  const child = spawn(process.execPath, ['-e', STRIP], { stdio: ['pipe', 'pipe', 'inherit'], env: {} })
  child.stdin.end(JSON.stringify(codes))
  const [stripped] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return JSON.parse(stripped) as string[]
}

/** A file of the chart library. */
const uplotFile = (name: string): string => readFileSync(new URL(name, import.meta.resolve('uplot')), 'utf8')

/** Set before the chart library, which refuses the language of a browser that is no valid tag, such as `en-US@posix`. */
const LANGUAGE = 'const navigator = { language: document.documentElement.lang }'

/** The name of a file for the browser. */
const scriptName = (file: string): string => file.replace(/\.ts$/, '.js')

/** The files of the page. */
function createAssets() {
  const sources = [
    { name: 'page.css', type: 'text/css; charset=utf-8', text: `${uplotFile('uPlot.min.css')}\n${STYLE}` },
    { name: 'icon.svg', type: 'image/svg+xml', text: ICON },
    { name: 'uplot.js', type: SCRIPT, text: `${LANGUAGE}\n${uplotFile('uPlot.iife.min.js')}\nexport default uPlot\n` },
    // TypeScript in a clone, JavaScript in a package.
    ...readdirSync(CLIENT)
      .filter((file) => /^[\w-]+\.[tj]s$/.test(file))
      .map((file) => ({ name: file, type: SCRIPT, text: readFileSync(new URL(file, CLIENT), 'utf8') })),
  ]
  async function prepare(): Promise<ReadonlyMap<string, Asset>> {
    const typed = sources.filter(({ name }) => name.endsWith('.ts'))
    const stripped = typed.length === 0 ? [] : await withoutTypes(typed.map(({ text }) => text))
    return new Map(
      sources.map((source) => {
        const { name, type } = source
        const code = stripped[typed.indexOf(source)] ?? source.text
        const isOurs = type === SCRIPT && name !== 'uplot.js'
        return [scriptName(name), { type, body: Buffer.from(isOurs ? resolved(code) : code) }]
      }),
    )
  }
  let prepared: Promise<ReadonlyMap<string, Asset>> | undefined
  return {
    /** The name of their folder: it changes with any of them. */
    folder: createHash('sha256').update(JSON.stringify(sources)).digest('base64url').slice(0, 12),
    names: sources.map(({ name }) => scriptName(name)),
    /** The file with a name, if any. */
    async read(name: string): Promise<Asset | undefined> {
      prepared ??= prepare().catch((error: unknown) => {
        prepared = undefined
        throw error
      })
      return (await prepared).get(name)
    },
  }
}

let created: ReturnType<typeof createAssets> | undefined

/** The files that pages load, read once. */
export function assets() {
  created ??= createAssets()
  return created
}
