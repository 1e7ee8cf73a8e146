import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MODULE = `const { Date: Real } = globalThis
const ahead = Number(process.env.TEST_NOW_MS) - Real.now()
const now = () => Real.now() + ahead
globalThis.Date = class extends Real {
  constructor(...parts) { super(...(parts.length === 0 ? [now()] : parts)) }
  static now() { return now() }
}
`

/** Prepares a folder for processes with a clock of their own. Returns the variables of a process that starts at an instant (ms). */
export function processClock(dir: string): (atMs: number) => Record<string, string> {
  const file = join(dir, 'clock.mjs')
  writeFileSync(file, MODULE)
  return (atMs) => ({ NODE_OPTIONS: `--import ${file}`, TEST_NOW_MS: String(atMs) })
}
