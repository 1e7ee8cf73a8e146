import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startEmulator } from '../../src/emulator/startEmulator.ts'
import { pageFiles } from '../../src/page/pageFiles.ts'
import { writePage } from '../../src/page/pageFolder.ts'
import { SERVICES } from '../../src/service/services.ts'
import { addLocal, localDate } from '../../src/util/time/zone.ts'
import { copyDemo } from '../support/demoCopy.ts'
import { fileFolder, runCommand, runJob, tempFolder } from '../support/kit.ts'
import { openNew } from '../support/preparedDatabase.ts'
import { testLinks } from '../support/systems.ts'
import { openReader, type Reader } from '../support/testStore.ts'

const NOW = Date.parse('2025-11-05T12:00:00Z') / 1000
/** A private part of the bookkeeping, which no file may contain. */
const PRIVATE = 'nobodys-business'

async function wholeText(body: string | AsyncIterable<string>): Promise<string> {
  if (typeof body === 'string') return body
  let text = ''
  for await (const piece of body) text += piece
  return text
}

const folder = fileFolder()
let file: string
let reader: Reader
let files: ReadonlyMap<string, string>
beforeAll(async () => {
  file = join(folder, 'market.db')
  const store = await copyDemo(file)
  store.run(`update _run set message = ?`, [PRIVATE])
  store.run(
    `update _fetch set outcome = 'refused', target = '/' || ? || id, message = ?, hint = ?, evidence = ? where id in (select max(id) from _fetch)`,
    [PRIVATE, PRIVATE, PRIVATE, PRIVATE],
  )
  store.run(
    `update content_text set title = ? where kind = 'glossary' and id = (select min(id) from content where kind = 'glossary')`,
    ['<script src="//evil"></script> href="/x" <a href="#not-here">x</a>'],
  )
  await store.tidy()
  await store.close()
  reader = openReader(file)
  const made = new Map<string, string>()
  for await (const { name, body } of pageFiles(reader, {
    locale: 'en',
    service: SERVICES.generic,
    now: NOW,
    range: {},
  }))
    made.set(name, await wholeText(body))
  files = made
})
afterAll(() => reader.close())

/** Returns every file below a folder with its contents. */
const contents = (path: string): Record<string, string> =>
  Object.fromEntries(
    (readdirSync(path, { recursive: true }) as string[])
      .filter((name) => statSync(join(path, name)).isFile())
      .sort()
      .map((name) => [name, readFileSync(join(path, name), 'utf8')]),
  )

describe('exported pages', () => {
  test('the pages contain status, coverage, series and texts in less than 1.2 megabytes', () => {
    const names = [...files.keys()]
    for (const name of 'index coverage coverage/600 series/600 series/600.geo-3 texts texts.kind-glossary'.split(' '))
      expect(names).toContain(`${name}.html`)
    expect(names.filter((name) => name.startsWith('texts/')).length).toBeGreaterThan(10)
    for (const [name, body] of files)
      if (/^series\/.*html$/.test(name)) expect(body, name).toContain('<svg class="figure"')
    const pages = [...files].filter(([name]) => !/\.(?:csv|svg)$/.test(name))
    expect(pages.reduce((sum, [, body]) => sum + Buffer.byteLength(body), 0)).toBeLessThan(1_200_000)
  })

  test('each series has its values as CSV and its chart as SVG beside it, of the range of the page', () => {
    const page = files.get('series/600.geo-3.html')!
    expect(page).toContain('<a href="../series/600.geo-3.csv" download>CSV</a>')
    expect(page).toContain('<a href="../series/600.geo-3.svg" download>SVG</a>')
    const csv = files.get('series/600.geo-3.csv')!.trim().split('\n')
    expect(csv[0]).toBe('at_utc,at_local,value,step_s')
    const days = new Set(csv.slice(1).map((line) => line.split(',')[1]!.slice(0, 10)))
    expect(days.size).toBe(30)
    const svg = files.get('series/600.geo-3.svg')!
    expect(svg).toMatch(/^<svg xmlns="[^"]+" width="960"/)
    expect(svg).toContain(`${[...days].sort()[0]} 00:00 – `)
    const names = [...files.keys()]
    for (const name of names.filter((name) => /^series\/.*geo-\d+\.html$/.test(name)))
      for (const ending of ['csv', 'svg']) expect(names).toContain(name.replace(/html$/, ending))
  })

  test('exported pages link only to each other', () => {
    for (const [name, body] of files) {
      if (!name.endsWith('.html')) continue
      for (const [, address] of body.matchAll(/<[^<>]*\b(?:href|src|action)="([^"]*)"/g)) {
        if (address!.startsWith('#')) continue
        expect(address, name).not.toMatch(/^(?:[a-z]+:|\/)/)
        expect(files.has(join(dirname(name), address!.replace(/#.*/, ''))), `${name} → ${address}`).toBe(true)
      }
    }
  })

  test('exported pages have no texts for missing links, and a series links to its coverage', () => {
    for (const [name, body] of files) {
      if (!/^series\/.*html$/.test(name)) continue
      expect(body, name).not.toMatch(/Earlier|Revisions by run|<a>|<li><\/li>/)
      if (body.includes('Reasons and fixes'))
        expect(body, name).toMatch(/<a href="\.\.\/coverage\/\w+\.html">Reasons and fixes/)
    }
    expect(files.get('series/600.html')).toContain('Reasons and fixes')
  })

  test('exported pages contain no scripts, forms or request details', () => {
    for (const [name, body] of files) {
      expect(body, name).not.toMatch(/<script|<form|<iframe|\son\w+=/i)
      expect(body, name).not.toContain(PRIVATE)
    }
    expect(files.get('texts.kind-glossary.html')).toContain('&lt;script src=')
  })
})

describe('the target folder', () => {
  /** A database with one series and a few texts, whose pages take a tenth of the time. */
  let small: Reader
  beforeAll(async () => {
    const store = await openNew(join(folder, 'small.db'))
    const emulator = await startEmulator({ now: NOW })
    try {
      const yaml = `series: [{ indicators: [600], geoIds: [3], window: { last: 1d } }]
content: [{ kinds: [glossaries] }]`
      await runJob(store, emulator, yaml, { now: NOW * 1000 })
    } finally {
      await emulator.close()
      await store.close()
    }
    small = openReader(store.file)
  })
  afterAll(() => small.close())

  const options = { locale: 'en', service: SERVICES.generic, now: NOW, range: {} } as const
  const write = (path: string, overwrite = false) =>
    writePage(small, path, { ...options, overwrite, sources: [small.file] })

  test('a second export replaces its own pages and keeps other files', async () => {
    const place = join(tempFolder(), 'page')
    await write(place)
    const expected: string[] = []
    for await (const { name } of pageFiles(small, options)) expected.push(name)
    expect(Object.keys(contents(place))).toEqual([...expected, 'indicator-sync-page.json'].sort())
    const list = join(place, 'indicator-sync-page.json')
    writeFileSync(join(place, 'notes.txt'), 'mine')
    // A page that no longer exists, and foreign names in the list.
    writeFileSync(join(place, 'series/999.html'), readFileSync(join(place, 'series/600.html')))
    writeFileSync(join(dirname(place), 'outside.html'), 'mine')
    const listed = JSON.parse(readFileSync(list, 'utf8'))
    writeFileSync(list, JSON.stringify({ ...listed, files: [...listed.files, 'series/999.html', '../outside.html'] }))
    await expect(write(place)).rejects.toThrow(/it exists/)
    await write(place, true)
    const now = Object.keys(contents(place))
    expect(now).toContain('notes.txt')
    expect(now).not.toContain('series/999.html')
    expect(existsSync(join(dirname(place), 'outside.html'))).toBe(true)
  })

  testLinks.each<[string, (place: string) => unknown, RegExp]>([
    ['a foreign index page', (place) => writeFileSync(join(place, 'index.html'), '<h1>mine</h1>'), /it exists/],
    ['a foreign list of pages', (place) => writeFileSync(join(place, 'indicator-sync-page.json'), '[]'), /it exists/],
    [
      'a file in place of a folder',
      (place) => writeFileSync(join(place, 'series'), ''),
      /is not part of a published page/,
    ],
    ['a folder in place of a file', (place) => mkdirSync(join(place, 'texts.html')), /is a folder/],
    [
      'a symlink to another place',
      (place) => symlinkSync(tmpdir(), join(place, 'texts')),
      /is not part of a published page/,
    ],
    ['a database', (place) => writeFileSync(join(place, 'page.css'), readFileSync(small.file)), /is a database/],
  ])('a folder with %s is refused before anything is written', async (_, prepare, message) => {
    const place = tempFolder()
    prepare(place)
    const before = readdirSync(place)
    await expect(write(place)).rejects.toThrow(message)
    expect(readdirSync(place)).toEqual(before)
  })

  test('a target that is not a folder is refused, and --overwrite replaces a foreign file', async () => {
    await expect(write(small.file)).rejects.toThrow(/is not a folder/)
    const place = tempFolder()
    writeFileSync(join(place, 'index.html'), '<h1>mine</h1>')
    await write(place, true)
    expect(readFileSync(join(place, 'index.html'), 'utf8')).toContain('<!doctype html>')
  })

  test('publish --page exports pages in the given language, with or without a copy', async () => {
    const cwd = tempFolder()
    const env = { INDICATOR_SYNC_DATABASE: resolve(file) }
    const done = await runCommand(cwd, ['publish', '--page', 'public', '--language', 'es', '--json'], env)
    expect(done).toMatchObject({ code: 0, err: '' })
    expect(JSON.parse(done.out)).toEqual({
      page: { folder: 'public', files: expect.any(Number), bytes: expect.any(Number) },
    })
    expect(readFileSync(join(cwd, 'public/index.html'), 'utf8')).toContain('<html lang="es">')
    expect(readFileSync(join(cwd, 'public/index.html'), 'utf8')).toMatch(/<h1>[^<]*, a fecha de 20/)
    expect(await runCommand(cwd, ['publish'], env)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/--page public/),
    })
  })

  test('publish --page --from --to exports that range: page, CSV and SVG', async () => {
    const cwd = tempFolder()
    const env = { INDICATOR_SYNC_DATABASE: resolve(file) }
    const flags = ['--from', '2025-10-25', '--to', '2025-10-27']
    expect(await runCommand(cwd, ['publish', '--page', 'public', ...flags], env)).toMatchObject({ code: 0, err: '' })
    const read = (name: string): string => readFileSync(join(cwd, 'public/series', name), 'utf8')
    const lines = read('1293.geo-8741.csv').trim().split('\n').slice(1)
    const days = new Set(lines.map((line) => line.split(',')[1]!.slice(0, 10)))
    expect([...days]).toEqual(['2025-10-25', '2025-10-26'])
    expect(read('1293.geo-8741.svg')).toContain('2025-10-25 00:00 – ')
    expect(read('1293.html')).toContain('2025-10-25 00:00')
  })

  test('publish --page --last exports the days that end now', async () => {
    const cwd = tempFolder()
    const env = { INDICATOR_SYNC_DATABASE: resolve(file) }
    const daysAgo = (days: number): string =>
      localDate('Europe/Madrid', addLocal('Europe/Madrid', Math.floor(Date.now() / 1000), 'day', -days))
    const before = daysAgo(2)
    expect(await runCommand(cwd, ['publish', '--page', 'public', '--last', '3'], env)).toMatchObject({ code: 0 })
    const picture = readFileSync(join(cwd, 'public/series/1293.geo-8741.svg'), 'utf8')
    // Midnight may pass while the command runs.
    expect([before, daysAgo(2)].some((day) => picture.includes(`${day} 00:00 – `))).toBe(true)
  })

  test.each([
    ['--page public --last 3 --from 2025-10-01 --to 2025-10-02', /either --last or --from and --to/],
    ['--page public --from 2025-10-01', /--from and --to/],
    ['--page public --last 0', /--last 0 is not valid/],
    ['--page public --from soon --to 2025-10-02', /--from "soon" is not a valid date/],
    ['public.db --last 3', /only work with --page/],
  ])('publish %s is refused, and writes nothing', async (flags, message) => {
    const cwd = tempFolder()
    const env = { INDICATOR_SYNC_DATABASE: resolve(file) }
    const done = await runCommand(cwd, ['publish', ...flags.split(' ')], env)
    expect(done).toMatchObject({ code: 2, err: expect.stringMatching(message) })
    expect(readdirSync(cwd)).toEqual([])
  })
})
