import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { STYLE } from './style.ts'

/** A file that the page needs: small, and the same as long as this program is the same. */
interface Asset {
  readonly type: string
  readonly body: Buffer
}

const SCRIPT = 'text/javascript; charset=utf-8'
const CLIENT = new URL('./client/', import.meta.url)

/** The mark of the page: a curve. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b57a4"/><path d="M2 11h3V6h3v3h3V4h3" fill="none" stroke="#fff" stroke-width="1.5"/></svg>`

/** Code with the names of modules as the browser loads them: our own by relative paths, and the one package that is served. */
const resolved = (code: string): string =>
  code
    .replaceAll(/(\bfrom\s*|\bimport\s*\(?\s*)(['"])(\.\/[\w-]+)\.[tj]s\2/g, '$1$2$3.js$2')
    .replaceAll(/(\bfrom\s*)(['"])uplot\2/g, '$1$2./uplot.js$2')

/** Code without the comment lines and indentation that only readers of the source need. */
const leanCode = (code: string): string =>
  code
    .replaceAll(/^[ \t]*\/\*[\s\S]*?\*\/[ \t]*$/gm, '')
    .replaceAll(/^[ \t]*\/\/.*$/gm, '')
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(/\n\s*/g, '\n')

/**
 * A script that reads a list of modules and writes them without their types. It hides Node's warning that this is experimental.
 */
const STRIP = `
  process.emitWarning = () => undefined
  const codes = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))
  process.stdout.write(JSON.stringify(codes.map((code) => require('node:module').stripTypeScriptTypes(code))))`

/** Modules without their types. A process of its own removes them, because that needs 50 MB, which this process would keep. */
async function withoutTypes(codes: readonly string[]): Promise<string[]> {
  const child = spawn(process.execPath, ['-e', STRIP], { stdio: ['pipe', 'pipe', 'inherit'], env: {} })
  child.stdin.end(JSON.stringify(codes))
  const [stripped] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return JSON.parse(stripped) as string[]
}

/** The chart library as a module: it comes as a script that sets a variable. */
function uplot(): string {
  const file = new URL('uPlot.iife.min.js', import.meta.resolve('uplot'))
  return `${readFileSync(file, 'utf8')}\nexport default uPlot\n`
}

const uplotStyle = (): string => readFileSync(new URL('uPlot.min.css', import.meta.resolve('uplot')), 'utf8')

/** A file as it is read, with its name for the browser. */
interface AssetSource {
  readonly name: string
  readonly type: string
  readonly text: string
  /** The language of one of our modules: TypeScript in a clone, JavaScript in a package. */
  readonly written?: 'ts' | 'js'
}

/** All files of the page. */
function sources(): AssetSource[] {
  const modules = readdirSync(CLIENT).filter((file) => /^[\w-]+\.[tj]s$/.test(file))
  return [
    { name: 'page.css', type: 'text/css; charset=utf-8', text: `${uplotStyle()}\n${STYLE}` },
    { name: 'icon.svg', type: 'image/svg+xml', text: ICON },
    { name: 'uplot.js', type: SCRIPT, text: uplot() },
    ...modules.map((file): AssetSource => {
      const [written, code] = [file.endsWith('.ts') ? 'ts' : 'js', readFileSync(new URL(file, CLIENT), 'utf8')] as const
      return { name: file.replace(/ts$/, 'js'), type: SCRIPT, text: code, written }
    }),
  ]
}

const madeAsset = (type: string, text: string): Asset => ({ type, body: Buffer.from(text) })

/** Our modules as the browser needs them, by name. */
async function modulesOf(all: readonly AssetSource[]): Promise<ReadonlyMap<string, Asset>> {
  const [typed, plain] = ['ts', 'js'].map((language) => all.filter(({ written }) => written === language)) as [
    AssetSource[],
    AssetSource[],
  ]
  const stripped = typed.length === 0 ? [] : await withoutTypes(typed.map(({ text }) => text))
  const codes = [...typed.map((source, i) => ({ ...source, text: stripped[i]! })), ...plain]
  return new Map(codes.map(({ name, type, text }) => [name, madeAsset(type, resolved(leanCode(text)))]))
}

/** The files of the page. */
export interface Assets {
  /** The name of their folder, which changes when any of them changes. */
  readonly folder: string
  readonly names: readonly string[]
  /** The file of a name; undefined where there is none. */
  read(name: string): Promise<Asset | undefined>
}

function createAssets(): Assets {
  const all = sources()
  const ready = new Map<string, Asset>()
  let modules: Promise<ReadonlyMap<string, Asset>> | undefined
  return {
    folder: createHash('sha256').update(JSON.stringify(all)).digest('base64url').slice(0, 12),
    names: all.map(({ name }) => name),
    async read(name) {
      const source = all.find((one) => one.name === name)
      if (source?.written) {
        modules ??= modulesOf(all).catch((error: unknown) => {
          // The next request tries again.
          modules = undefined
          throw error
        })
        return (await modules).get(name)
      }
      const asset = ready.get(name) ?? (source && madeAsset(source.type, source.text))
      if (asset) ready.set(name, asset)
      return asset
    },
  }
}

let knownAssets: Assets | undefined

/** The files of the page: read once, and prepared for the browser on the first request. */
export function assets(): Assets {
  knownAssets ??= createAssets()
  return knownAssets
}
