import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import type { Emulator } from '../../src/emulator/startEmulator.ts'
import { emulate, runSource, tempFolder } from '../support/kit.ts'

/** Prints the loaded modules when the process ends. */
const WITNESS = `import { registerHooks } from 'node:module'
const loaded = []
registerHooks({ load: (url, context, next) => { if (!/^node:(?!crypto$)/.test(url)) loaded.push(url); return next(url, context) } })
process.on('exit', () => process.stderr.write('\\n' + JSON.stringify({ loaded })))`

interface Witnessed {
  readonly code: number | null
  readonly loaded: readonly string[]
}

function workplace(emulator?: Emulator) {
  const dir = tempFolder()
  writeFileSync(join(dir, 'witness.mjs'), WITNESS)
  const env = {
    NODE_OPTIONS: `--import=${pathToFileURL(join(dir, 'witness.mjs')).href}`,
    ...(emulator && { INDICATOR_SYNC_BASE_URL: emulator.url, INDICATOR_SYNC_API_KEY: emulator.key }),
  }
  const job = (id: number): string => {
    writeFileSync(
      join(dir, `${id}.yaml`),
      `name: one\nseries: [{ indicators: [${id}], window: { from: 2025-01-01, to: 2025-01-02 } }]\n`,
    )
    return `${id}.yaml`
  }
  const run = async (...args: string[]): Promise<Witnessed> => {
    const { code, err } = await runSource(dir, args, env)
    return { code, ...(JSON.parse(err.trim().split('\n').at(-1)!) as Omit<Witnessed, 'code'>) }
  }
  const runs = async (): Promise<unknown> =>
    JSON.parse((await runSource(dir, ['query', 'select requests from _run order by id', '--json'])).out)
  return { dir, job, run, runs }
}

/** Returns the packages among the loaded modules. */
const packagesOf = ({ loaded }: Witnessed): string[] => [
  ...new Set(loaded.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [])),
]

test('the help loads no package and few files', async () => {
  const { run } = workplace()
  const help = await run('--help')
  expect(help.code).toBe(0)
  expect(packagesOf(help)).toEqual([])
  expect(help.loaded.length).toBeLessThan(35)
})

test('a sync without pending requests loads no code for fetching, transforming or logging', async () => {
  const { run, job, runs } = workplace(await emulate())
  const file = job(1739)
  const first = await run('sync', file)
  expect(first).toMatchObject({ code: 0 })
  expect(packagesOf(first)).toContain('undici')
  const night = await run('sync', file)
  expect(night).toMatchObject({ code: 0 })
  for (const name of ['undici', 'p-queue', 'p-retry', 'pino', 'pino-pretty', 'html-to-text', 'hono'])
    expect(packagesOf(night)).not.toContain(name)
  const own = night.loaded.filter((url) => !url.includes('/node_modules/')).map((url) => url.replace(/.*\/src\//, ''))
  for (const part of [
    'readReply.ts',
    'fetch/client.ts',
    'fetch/http.ts',
    'fetch/pacer.ts',
    'transform/',
    'migrations/',
    'emulator/',
    'reports/recipes/',
  ])
    expect(own.filter((file) => file.includes(part))).toEqual([])
  expect(own).not.toContain('node:crypto')
  expect(await runs()).toEqual([{ requests: 1 }, { requests: 0 }])
})

test('serve loads no more modules than its first response needs', async () => {
  const { dir, run } = workplace()
  const { code, loaded } = await run('serve', '--database', join(dir, 'none.db'))
  expect(code).toBe(7)
  expect(loaded.filter((url) => /\/page\/(?:views|queries)\//.test(url)).length).toBeLessThan(20)
  expect(loaded.filter((url) => /\/src\/emulator\/|\/node_modules\/zod\//.test(url))).toEqual([])
})
