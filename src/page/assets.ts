import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { sha256 } from '../util/checksum.ts'
import { STYLE } from './style.ts'

const SCRIPT = 'text/javascript; charset=utf-8'
const CLIENT = new URL('./client/', import.meta.url)

const ICON_GROUND = '<rect width="16" height="16" rx="3" fill="#0b57a4"/>'
const ICON_LINE = '<path d="M2 11h3V6h3v3h3V4h3" fill="none" stroke="#fff" stroke-width="1.5"/>'
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${ICON_GROUND}${ICON_LINE}</svg>`

/** Replaces the names of imported modules by their addresses. A package has the last part of its name. */
const resolved = (code: string): string =>
  code
    .replaceAll(/(\bfrom\s*|\bimport\s*\(?\s*)(['"])(\.\/[\w-]+)\.[tj]s\2/g, '$1$2$3.js$2')
    .replaceAll(/(\bfrom\s*)(['"])(?:@[\w-]+\/)?([\w-]+)\2/g, '$1$2./$3.js$2')

/** Removes indentation, and lines that are empty or comments: a fifth of the bytes of scripts. No line of a text begins like them. */
const withoutComments = (code: string): string => code.replaceAll(/^[ \t]*(?:(?:\/\/|\/\*|\*).*)?\n|^[ \t]+/gm, '')

/** Removes the spaces that replace types. No text has two spaces, or one before these signs. */
const withoutPadding = (code: string): string => code.replaceAll(/ +(?=[ ),]|$)/gm, '')

/** A script for the browser: TypeScript in a clone, JavaScript in a package. */
function readScript(file: string): string {
  const code = readFileSync(new URL(file, CLIENT), 'utf8')
  return withoutPadding(withoutComments(resolved(file.endsWith('.ts') ? stripTypeScriptTypes(code) : code)))
}

/** A file of the chart library. */
const uplotFile = (name: string): string => readFileSync(new URL(name, import.meta.resolve('uplot')), 'utf8')

/** The library for the keys of comboboxes: a single file. */
const comboboxFile = (): string => readFileSync(new URL(import.meta.resolve('@github/combobox-nav')), 'utf8')

/** Set before the chart library, which refuses the language of a browser if it is not a valid tag, such as `en-US@posix`. */
const LANGUAGE = 'const navigator = { language: document.documentElement.lang }'

/** Creates the files that pages load. */
function createAssets() {
  const files = new Map([
    ['page.css', { type: 'text/css; charset=utf-8', body: `${uplotFile('uPlot.min.css')}\n${STYLE}` }],
    ['icon.svg', { type: 'image/svg+xml', body: ICON }],
    ['uplot.js', { type: SCRIPT, body: `${LANGUAGE}\n${uplotFile('uPlot.iife.min.js')}\nexport default uPlot\n` }],
    ['combobox-nav.js', { type: SCRIPT, body: withoutComments(comboboxFile()) }],
    ...readdirSync(CLIENT)
      .filter((file) => /^[\w-]+\.[tj]s$/.test(file))
      .map((file) => [file.replace(/\.ts$/, '.js'), { type: SCRIPT, body: readScript(file) }] as const),
  ])
  /** The name of their folder: it changes with any of them. */
  const folder = sha256(JSON.stringify([...files]), 'base64url').slice(0, 12)
  return { folder, files }
}

let created: ReturnType<typeof createAssets> | undefined

/** The files that pages load, read once. */
export function assets() {
  created ??= createAssets()
  return created
}
