import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { BusyError, lockWriter, openStore } from '../src/index.ts'
import { checkService } from '../src/services/declared.ts'
import { type Done, emulate, json, runCli, runJob, serve, tempFolder } from './kit.ts'
import { compileStrictly, installPacked, runNode } from './packed.ts'

const page = readFileSync('docs/library.md', 'utf8')
const blockOf = (language: string): string => new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? ''

describe('the package as a library', () => {
  test('compiles under the strictest settings, and the example of the page runs as it stands', () => {
    const folder = tempFolder()
    installPacked(folder)
    writeFileSync(join(folder, 'example.ts'), blockOf('ts'))
    writeFileSync(
      join(folder, 'all.ts'),
      "import * as all from 'indicator-sync'\nexport const names = Object.keys(all)\n",
    )
    expect(compileStrictly(folder, ['example.ts', 'all.ts'])).toBe('')
    const out = runNode(folder, ['example.ts'])
    expect(out).toMatch(/^plan: indicator missing \/indicators\/600\?/m)
    expect(out).toMatch(/^done \d+ new rows$/m)
    expect(out).toMatch(/^2025-11-01 \d+/m)
    expect(out).toMatch(/^\d+ rows exported$/m)
    expect(out).toMatch(/^288 values published$/m)
    const listed = [...page.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell]) =>
      [...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
    )
    const names = runNode(folder, [
      '--input-type=module',
      '-e',
      "console.log(Object.keys(await import('indicator-sync')).join())",
    ])
    for (const name of listed) expect(names.trim().split(','), name).toContain(name)
  })
})

test('sync takes the writer’s lock itself, says who has it, and gives it back', async () => {
  const file = join(tempFolder(), 'x.db')
  const emulator = await emulate()
  const [one, two] = [await openStore(file), await openStore(file)]
  onTestFinished(async () => {
    await one.close()
    await two.close()
  })
  const job = 'catalogue: true\n'
  const unlock = await lockWriter(one, 'my program', Date.now)
  await expect(runJob(two, emulator, job)).rejects.toThrow(/my program/)
  await expect(runJob(two, emulator, job)).rejects.toBeInstanceOf(BusyError)
  expect(emulator.requests).toHaveLength(0)
  await unlock()
  expect((await runJob(two, emulator, job)).outcome).toBe('done')
  const again = await lockWriter(one, 'my program', Date.now)
  expect((await runJob(one, emulator, job)).outcome).toBe('done')
  await again()
})

const JOB =
  'name: one\npace: { perSecond: 50 }\nseries:\n  - { indicators: [1739], window: { from: 2025-01-01, to: 2025-01-02 } }\n'
const GOOD = { name: 'mine', vendor: 'my-api', baseUrl: null, timeZone: 'Europe/Lisbon' }

describe('a service of one’s own', () => {
  const run = (files: Record<string, string>, args: string[], env: Record<string, string> = {}): Promise<Done> => {
    const folder = tempFolder()
    for (const [name, text] of Object.entries({ 'job.yaml': JOB, ...files })) writeFileSync(join(folder, name), text)
    return runCli(folder, args, { INDICATOR_SYNC_API_KEY: 'k'.repeat(64), ...env })
  }

  test('the example of the page is a good one', async () => {
    const { code, out } = await run({ 'my-service.js': blockOf('js') }, ['doctor', '--service', './my-service.js'])
    expect(out).toMatch(/service +my-service \(from flag --service\)/)
    expect(out).toMatch(/base address +https:\/\/api\.example\.org \(from profile my-service\)/)
    expect(code).toBe(0)
  })

  test.each([
    ['a named export', 'my.js', `export const service = ${JSON.stringify(GOOD)}`],
    ['a default export', 'my.mjs', `export default ${JSON.stringify(GOOD)}`],
    ['CommonJS', 'my.cjs', `module.exports = ${JSON.stringify(GOOD)}`],
    ['TypeScript', 'my.ts', `export const service: { name: string } = ${JSON.stringify(GOOD)}`],
    ['JSON', 'my.json', JSON.stringify(GOOD)],
  ])('%s is asked in its own media type', async (_name, file, text) => {
    const server = await serve((_request, response) =>
      json(response, { indicator: { id: 1739, tiempo: [{ id: 4 }], geos: [], values: [] } }),
    )
    const env = { INDICATOR_SYNC_BASE_URL: server.url, INDICATOR_SYNC_SERVICE: `./${file}` }
    const { code, err } = await run({ [file]: text }, ['sync', 'job.yaml'], env)
    expect(err).not.toMatch(/Warning/)
    expect(code).toBe(0)
    expect(server.calls[0]!.headers.accept).toContain('application/vnd.my-api-v1+json')
  })

  test.each<[string, string, RegExp]>([
    ['is not there', '', /There is no file \.\/my\.js/],
    ['does not load', 'export const service = {', /my\.js cannot be loaded/],
    ['waits', 'export const service = await Promise.resolve({})', /top-level await/],
    ['exports nothing', 'export const x = 1', /my\.js exports no service/],
    [
      'exports a function',
      'export default () => 1',
      /it is a value of type function; legal: an object with name, vendor/,
    ],
    [
      'is wrong all over',
      'export const service = { name: "a b", vendor: "", baseUrl: "ftp://x", timezone: "Europe/Lisbon" }',
      /name is "a b"; legal.*\n.*vendor is "".*\n.*baseUrl is "ftp:\/\/x".*\n.*timeZone is missing.*\n.*timezone is unknown.*Did you mean "timeZone"/,
    ],
  ])('one that %s exits 2 and says what is legal', async (_name, text, message) => {
    const { code, err } = await run(text === '' ? {} : { 'my.js': text }, ['plan', 'job.yaml', '--service', './my.js'])
    expect(err).toMatch(message)
    expect(err).not.toMatch(/A bug of/)
    expect(code).toBe(2)
  })

  test('an address is kept without a slash at its end, and one with a user is refused', () => {
    expect(checkService({ ...GOOD, baseUrl: 'https://a.example/api/' }, 'x').baseUrl).toBe('https://a.example/api')
    expect(() => checkService({ ...GOOD, baseUrl: 'https://u:p@a.example' }, 'x')).toThrow(/baseUrl/)
    expect(() => checkService({ ...GOOD, timeZone: 'Europe/Nowhere' }, 'x')).toThrow(/timeZone is "Europe\/Nowhere"/)
  })
})
