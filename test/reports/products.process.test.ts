import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chartText, shrink } from '../../src/cli/terminal/brailleChart.ts'
import { SEARCH_SCOPES, type SearchScope, searchItems } from '../../src/reports/searchItems.ts'
import { SERVICES } from '../../src/service/services.ts'
import { STALE } from '../docs/pages.ts'
import { recipesText } from '../docs/recipesText.ts'
import { copyDemo } from '../support/demoCopy.ts'
import { ALL_RECIPES, RECIPES } from '../support/genericRecipes.ts'
import { type Done, fileFolder, onlyInFile, runCommand, tempFolder } from '../support/kit.ts'
import { openReader, type Store } from '../support/testStore.ts'

let store: Store
let file: string
const folder = fileFolder()

beforeAll(async () => {
  file = join(folder, 'market.db')
  store = await copyDemo(file)
  await store.tidy()
})
afterAll(() => store.close())

/** Runs a command on the demo database: words, and arguments that may contain spaces. */
const cli = (words: string, ...last: string[]): Promise<Done> =>
  runCommand(tempFolder(), [...words.split(' '), ...last], { INDICATOR_SYNC_DATABASE: file })

describe('recipes', () => {
  test.skipIf(onlyInFile('page'))('docs/recipes.md contains the results of the statements', async () => {
    expect(readFileSync('docs/recipes.md', 'utf8'), `docs/recipes.md ${STALE}`).toBe(await recipesText(store))
  })

  test('recipes return correct hours of months, steps of traded energy, and past values', () => {
    const recipe = (name: string) => {
      const { sql, parameters, shown } = RECIPES.find((one) => one.name === name)!
      return store.all(sql, { ...parameters, ...shown }) as Record<string, number | string>[]
    }
    expect(recipe('completeness')[0]).toMatchObject({ hours_of_month: 745 })
    expect(recipe('monthly-traded-energy').map(({ step_s }) => step_s)).toEqual([3600, 900])
    expect(recipe('known-at').length).toBeGreaterThan(10)
  })
})

describe('search', () => {
  const found = (text: string, places: readonly SearchScope[] = ['catalogue']) =>
    searchItems(openReader(file), SERVICES.generic, text, places)
  test.each<[string, string, number]>([
    ['an id', '1293', 1293],
    ['an exact name', 'Demanda real', 1293],
    ['a name in the other language', 'Actual demand', 1293],
    ['a name without accents', 'prevision de la produccion eolica', 541],
    ['prefixes of words in any order', 'spot prec diar', 600],
    ['a name in upper case', 'DEMANDA REAL', 1293],
  ])('search by %s finds the best match first', async (_, text, id) =>
    expect((await found(text))[0]).toMatchObject({ id }),
  )

  test.each([
    ['luz', 600],
    ['precio de la luz', 600],
    ['the price of electricity', 600],
    ['tarifa', 1001],
    ['PVPC', 1001],
    ['load forecast', 544],
    ['excedentes', 1739],
  ])('search by the everyday name %s finds its indicator first, and once', async (text, id) => {
    const hits = await found(text, SEARCH_SCOPES)
    expect(hits.filter((hit) => hit.kind === 'indicator')[0]).toMatchObject({ id, locale: 'en' })
    expect(hits.filter((hit) => hit.kind === 'indicator' && hit.id === id)).toHaveLength(1)
    expect(await found(text, ['archives']), 'only in the catalogue').not.toContainEqual(
      expect.objectContaining({ kind: 'indicator' }),
    )
  })

  test('search results have names in one language, whatever name matched', async () => {
    expect((await found('Demanda real'))[0]).toMatchObject({ name: 'Actual demand', locale: 'en' })
    expect(new Set((await found('demanda')).map(({ locale }) => locale))).toEqual(new Set(['en']))
  })

  test('search finds every kind of text, and each item once', async () => {
    const all = await found('precio', SEARCH_SCOPES)
    expect(new Set(all.map(({ kind }) => kind)).size).toBeGreaterThan(3)
    expect(new Set(all.map(({ kind, id }) => `${kind} ${id}`)).size).toBe(all.length)
  })

  test.each(['"', "'", 'a OR', 'NEAR(', '-x', '*', ':', '%', 'name:x', '\u0000', '😀'])(
    '%s is searched as plain text',
    async (text) => {
      expect(await found(text)).toBeInstanceOf(Array)
    },
  )

  test('the search index follows updates and deletions of texts', async () => {
    const other = await copyDemo(join(tempFolder(), 'other.db'))
    other.run(`update indicator_text set name = 'Zanahoria' where id = 600`, [])
    other.run(`delete from archive_text where id = 79`, [])
    if (!onlyInFile('file')) other.run(`insert into search (search, rank) values ('integrity-check', 1)`, [])
    const reader = openReader(other.file)
    expect(await searchItems(reader, SERVICES.generic, 'zanahoria', ['catalogue'])).toHaveLength(1)
    expect(
      (await searchItems(reader, SERVICES.generic, 'mercado spot diario', ['catalogue'])).map(({ id }) => id),
    ).not.toContain(600)
    expect(await searchItems(reader, SERVICES.generic, 'preciovoluntario', ['archives'])).toEqual([])
    await reader.close()
    await other.close()
  })
})

describe('query', () => {
  test('query prints every format', async () => {
    const sql = `select 1 as n, 'a|"b",c' as t, null as x`
    expect((await cli('query --format csv', sql)).out).toBe('n,t,x\n1,"a|""b"",c",\n')
    const tabs = `select 1 as n, 'a\t"b"' as t, 'c,d' as u, '' as e, null as x`
    expect((await cli('query --format tsv', tabs)).out).toBe('n\tt\tu\te\tx\n1\t"a\t""b"""\tc,d\t""\t\n')
    expect((await cli('query --format ndjson', sql)).out).toBe('{"n":1,"t":"a|\\"b\\",c","x":null}\n')
    expect(JSON.parse((await cli('query --json', sql)).out)).toEqual([{ n: 1, t: 'a|"b",c', x: null }])
    expect((await cli('query --format markdown', sql)).out).toBe(
      '| n | t | x |\n| --- | --- | --- |\n| 1 | a\\|"b",c |  |\n',
    )
    expect((await cli('query', sql)).out).toMatch(/^n {2}t/)
    expect((await cli('query --format csv', 'with x as (select 1 as a) select a from x')).out).toBe('a\n1\n')
    expect(JSON.parse((await cli('query --json', 'select 1 where false')).out)).toEqual([])
  })

  test.each<[string, [string, ...string[]], number, RegExp]>([
    ['a missing parameter', ['query', 'select :x'], 2, /--param name=value/],
    ['a parameter without a value', ['query --param x', 'select :x'], 2, /has no value/],
    ['two statements', ['query', 'select 1; select 2'], 2, /one statement/],
    ['a write', ['query', 'delete from observation'], 2, /read-only/],
    ['a write with returning', ['query', 'delete from observation returning *'], 2, /read-only/],
    ['a create table', ['query', 'create table x (a)'], 2, /read-only/],
    ['a syntax error', ['query', 'selekt 1'], 2, /syntax error/],
    ['a missing column', ['query', 'select elsewhere from observation'], 2, /no such column|does not exist/],
    ['no statement', ['query'], 2, /Pass an SQL statement/],
    ['an unknown recipe', ['query daily-avrage'], 2, /Did you mean|did you mean|There are/],
    ['a parameter that a recipe lacks', ['query daily-average --param zone=3'], 2, /has no parameter zone/],
    [
      'a slow statement',
      ['query --timeout 1', 'with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c'],
      4,
      /longer than 1 s/,
    ],
  ])('query with %s prints its error', async (_, args, code, message) => {
    const done = await cli(...args)
    expect(done.err).toMatch(message)
    expect(done.code).toBe(code)
  })

  test('query accepts parameters and recipes by name', async () => {
    expect((await cli('query --param a=2 --param b=3 --format csv', 'select :a + :b as sum')).out).toBe('sum\n5\n')
    const rows = JSON.parse((await cli('query daily-average --geo 1 --from 2025-11-01 --to 2025-11-03 --json')).out)
    expect(rows.map(({ local_date }: { local_date: string }) => local_date)).toEqual(['2025-11-01', '2025-11-02'])
    const recipes = JSON.parse((await cli('query --recipes --json')).out) as { name: string }[]
    expect(recipes.map(({ name }) => name)).toEqual(ALL_RECIPES.map(({ name }) => name))
  })
})

describe('export', () => {
  test('an exported Parquet file contains the stored values with types and units', async () => {
    const out = join(tempFolder(), 'spot.parquet')
    expect((await cli('export --indicator 600 --geo 3 --format parquet --output', out)).code).toBe(0)
    const buffer = await asyncBufferFromFile(out)
    const rows = (await parquetReadObjects({ file: buffer })) as { at_utc: Date; value: number; step_s: bigint }[]
    const stored = store.all(
      'select at_utc, value, step_s from observations where indicator_id = 600 and geo_id = 3 order by at_utc',
    ) as { at_utc: string; value: number; step_s: number }[]
    expect(
      rows.map(({ at_utc, value, step_s }) => [at_utc.toISOString().replace('.000', ''), value, Number(step_s)]),
    ).toEqual(stored.map(({ at_utc, value, step_s }) => [at_utc, value, step_s]))
    const { key_value_metadata: said, schema } = await parquetMetadataAsync(buffer)
    expect(said).toContainEqual({ key: 'unit.value', value: '€/MWh' })
    expect(schema.find(({ name }) => name === 'at_utc')).toMatchObject({
      converted_type: 'TIMESTAMP_MILLIS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
    })
  })

  test.each<[string, [string, ...string[]], RegExp]>([
    ['no selection', ['export'], /either --indicator or --sql/],
    ['two selections', ['export --indicator 1 --sql', 'select 1'], /either --indicator or --sql/],
    ['flags that do not work with --sql', ['export --wide --sql', 'select 1'], /--sql does not work with --wide/],
    ['a missing folder', ['export --indicator 600 --output /nowhere/x.csv'], /Cannot write .*folder does not exist/],
    ['a statement that writes', ['export --sql', 'delete from geo'], /read-only/],
    [
      'a resampled statement',
      ['export --resample hour --sql', 'select 1'],
      /--sql does not work with --wide, --resample/,
    ],
    ['--partial without --resample', ['export --indicator 600 --partial'], /--partial only works with --resample/],
  ])('an export with %s is refused and leaves no file', async (_, args, message) => {
    const done = await cli(...args)
    expect(done.err).toMatch(message)
    expect(done.code).toBe(2)
  })

  test('--resample gives indicators of different steps common rows, equal to observations_hourly', async () => {
    const done = await cli('export --indicator 600 1001 1293 --geo 3 8741 --resample hour --wide --quiet')
    const [head, ...lines] = done.out
      .trim()
      .split('\n')
      .map((line) => line.split(','))
    expect(head).toEqual(expect.arrayContaining(['at_utc', '600_3 (€/MWh)', '1001_8741 (€/MWh)', '1293_8741 (MW)']))
    const of = (indicator: number, geo: number) =>
      store.all(
        `select at_utc, value from observations_hourly where indicator_id = ? and geo_id = ? and time_trunc is null
         and value is not null order by at`,
        [indicator, geo],
      ) as { at_utc: string; value: number }[]
    for (const [indicator, geo, name] of [
      [600, 3, '600_3 (€/MWh)'],
      [1001, 8741, '1001_8741 (€/MWh)'],
      [1293, 8741, '1293_8741 (MW)'],
    ] as const) {
      const column = head!.indexOf(name)
      const found = lines.filter((line) => line[column] !== '')
      expect(found.length).toBeGreaterThan(150)
      expect(found.map((line) => [line[0], Number(line[column])])).toEqual(
        of(indicator, geo).map(({ at_utc, value }) => [at_utc, expect.closeTo(value, 9)]),
      )
    }
    expect(lines.filter((line) => line.every((cell) => cell !== '')).length).toBeGreaterThan(100)
  })

  test('--resample leaves incomplete months empty, and --partial fills them, also for past values', async () => {
    const month = async (flags: string) =>
      (await cli(`export --indicator 1293 --geo 8741 --resample month --format ndjson --quiet ${flags}`)).out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
        .filter(({ time_trunc }) => time_trunc === null)
    const expected = store.all(
      `select local_month, avg from observations_monthly where indicator_id = 1293 and time_trunc is null order by 1`,
    ) as { avg: number }[]
    const strict = await month('--from 2025-01-01')
    expect(strict.map(({ value, is_complete }) => [value, is_complete])).toEqual(expected.map(() => [null, 0]))
    expect(strict.find(({ at_local }) => at_local.startsWith('2025-10'))).toMatchObject({
      at_local: '2025-10-01T00:00:00+02:00',
      step_s: (31 * 24 + 1) * 3600,
    })
    const filled = await month('--partial')
    expect(filled.map(({ value }) => value)).toEqual(expected.map(({ avg }) => expect.closeTo(avg, 6)))
    const known = await month('--partial --as-of 2025-11-03T18:00:00Z')
    expect(known.at(-1).value).not.toBe(filled.at(-1).value)
  })

  test('a Parquet export can be piped, and its reader may close early', async () => {
    const start = () =>
      spawn(process.execPath, ['src/cli/bin.js', ...'export --indicator 1293 --format parquet'.split(' ')], {
        env: { ...process.env, INDICATOR_SYNC_DATABASE: store.address },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
    const bytes = await buffer(start().stdout)
    const out = join(tempFolder(), 'demand.parquet')
    await cli('export --indicator 1293 --output', out)
    expect(bytes.equals(readFileSync(out))).toBe(true)
    const left = start()
    left.stdout.once('data', () => left.stdout.destroy())
    expect(await once(left, 'exit')).toEqual([0, null])
  })

  test('a statement can be exported in any format', async () => {
    const out = join(tempFolder(), 'any.parquet')
    await cli(
      `export --format parquet --output ${out} --sql`,
      'select geo_id, value / 2 as half, null as none from observation limit 10',
    )
    const rows = await parquetReadObjects({ file: await asyncBufferFromFile(out) })
    expect(rows).toHaveLength(10)
    expect(rows[0]).toMatchObject({ half: expect.any(Number), none: null })
  })
})

describe('views of content', () => {
  test('views join terms and vocabularies and show expired items', () => {
    const news = store.all(`select * from news where locale = 'es' order by id`) as Record<string, unknown>[]
    expect(news.length).toBeGreaterThan(10)
    expect(news.some(({ terms }) => typeof terms === 'string')).toBe(true)
    expect(news.every(({ body, body_text }) => body === null || !/<\w+>/.test(String(body_text)))).toBe(true)
    for (const { expires_at, expired } of news)
      expect(expired).toBe(expires_at !== null && Date.parse(String(expires_at)) <= Date.now() ? 1 : 0)
    for (const view of ['glossary', 'documentation', 'static_page'])
      expect(store.get(`select count(*) from ${view}`), view).toBeGreaterThan(0)
  })

  test('a changed text keeps its versions', async () => {
    const other = await copyDemo(join(tempFolder(), 'texts.db'))
    const id = other.get('select min(id) from news') as number
    other.run(
      `update content_text set title = 'New', fetch_id = (select max(id) from _fetch) where kind = 'news' and id = ? and locale = 'es'`,
      [id],
    )
    const versions = other.all(
      `select title, valid_to from content_history where kind = 'news' and id = ? and locale = 'es' order by valid_from`,
      [id],
    )
    expect(versions).toEqual([
      { title: expect.any(String), valid_to: expect.any(String) },
      { title: 'New', valid_to: null },
    ])
    await other.close()
  })

  test('archives show their publication dates', () => {
    const rows = store.all(`select * from archive_publications where kind = 'archive'`) as Record<string, unknown>[]
    expect(rows.length).toBe(store.get(`select count(*) from archive_edition where kind = 'archive'`))
    expect(
      rows.every(
        ({ name, published_from, published_to }) => name !== null && String(published_from) <= String(published_to),
      ),
    ).toBe(true)
  })
})

describe('terminal charts', () => {
  test('a chart has a scale, breaks at missing values and joins adjacent ones', () => {
    const lines = chartText([0, 1, 2, 3, null, null, 3, 0], { width: 8, height: 2, low: 0, high: 3 })
    expect(lines[0]).toMatch(/^3 │/)
    expect(lines[1]).toMatch(/^0 │/)
    expect(shrink([1, 3, null, null, 5], 2)).toEqual([2, 5])
    expect(shrink([null, null], 1)).toEqual([null])
  })

  test('show draws a series, and explains missing values', async () => {
    const done = await cli('show 600')
    expect(done.out).toMatch(/Day-ahead spot market price, España \(€\/MWh\): mean/)
    expect(done.out).toMatch(/[\u2801-\u28ff]/)
    expect(JSON.parse((await cli('show 1293 --json')).out)[0].values.length).toBeGreaterThan(100)
    expect(await cli('show prices')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^<indicator> "\w+" is not valid; expected a number/),
    })
    expect(await cli('show 4242')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/No values of indicator 4242/),
    })
    expect((await cli('show 600 --from 1999-01-01 --to 1999-02-01')).code).toBe(2)
  })
})
