import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'

const NOUNS = ['base', 'services', 'tables', 'db', 'job']
const STAGES = ['state', 'plan', 'fetch', 'transform', 'load', 'checks', 'products', 'lake']

/** What each folder of src may import, beside itself. */
const MAY: Record<string, readonly string[]> = {
  base: [],
  services: ['base'],
  tables: ['base', 'services'],
  db: ['base', 'tables'],
  job: ['base', 'services', 'tables'],
  ...Object.fromEntries(STAGES.map((stage) => [stage, NOUNS])),
  // What is checked and handed out is read by the same questions as what is planned.
  checks: [...NOUNS, 'state'],
  products: [...NOUNS, 'state'],
  emulator: ['base', 'services'],
  // Versions of texts are shown as plain text, too.
  page: [...NOUNS, 'state', 'checks', 'products', 'transform', 'lake'],
  threads: [...NOUNS, ...STAGES],
  'ingestContext.ts': [...NOUNS, ...STAGES],
  'mixedResolutions.ts': [...NOUNS, ...STAGES, 'ingestContext.ts'],
  'ingest.ts': [...NOUNS, ...STAGES, 'threads', 'mixedResolutions.ts', 'ingestContext.ts'],
  calls: [...NOUNS, ...STAGES],
  'pipeline.ts': [...NOUNS, ...STAGES, 'ingest.ts', 'calls', 'ingestContext.ts'],
  runs: [...NOUNS, ...STAGES, 'ingestContext.ts'],
  'ingestAll.ts': [...NOUNS, ...STAGES, 'pipeline.ts', 'calls', 'runs', 'ingestContext.ts'],
  'selection.ts': [...NOUNS, ...STAGES, 'ingestAll.ts'],
  'sync.ts': [...NOUNS, ...STAGES, 'runs', 'ingestAll.ts', 'selection.ts'],
  'replay.ts': [...NOUNS, ...STAGES, 'threads'],
  cluster: [
    ...NOUNS,
    ...STAGES,
    'threads',
    'ingest.ts',
    'calls',
    'ingestContext.ts',
    'pipeline.ts',
    'runs',
    'ingestAll.ts',
  ],
  'index.ts': [...NOUNS, ...STAGES, 'ingestContext.ts', 'ingestAll.ts', 'sync.ts', 'emulator', 'cluster'],
  cli: [
    ...NOUNS,
    ...STAGES,
    'threads',
    'ingest.ts',
    'calls',
    'runs',
    'ingestContext.ts',
    'ingestAll.ts',
    'sync.ts',
    'replay.ts',
    'emulator',
    'page',
    'cluster',
  ],
}
const PURE = ['services', 'tables', 'job', 'plan', 'transform']

/** Packages that have one door. */
const DOORS: Record<string, string | readonly string[]> = {
  'better-sqlite3': 'db/sqlite/',
  pg: 'db/postgres/',
  'pg-boss': 'cluster/',
  'p-queue': ['fetch/', 'page/statements/statements.ts'],
  'p-retry': 'fetch/',
  undici: 'fetch/',
  'date-fns': 'base/',
  '@date-fns/utc': 'base/',
  pino: 'base/log.ts',
  'pino-pretty': 'base/log.ts',
  'fastest-levenshtein': 'base/',
  yargs: 'cli/',
  'string-width': 'cli/terminal/width.ts',
  fastify: 'emulator/',
  'find-my-way': 'page/server/server.ts',
  uplot: ['page/client/', 'page/assets.ts'],
  zod: ['job/', 'emulator/', 'services/'],
  yaml: ['job/', 'cli/'],
  'html-to-text': 'transform/',
  'hyparquet-writer': ['cli/exports/parquet.ts', 'lake/parquet.ts'],
  '@aws-sdk/client-s3': 'lake/places/s3.ts',
  hyparquet: ['cli/exports/parquet.ts', 'lake/parquet.ts', 'lake/footer.ts'],
}

const files = (readdirSync('src', { recursive: true }) as string[]).filter((file) => file.endsWith('.ts'))
const sources = files.map((file) => ({ file, text: readFileSync(join('src', file), 'utf8') }))
const importsOf = (text: string): string[] =>
  [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, specifier]) => specifier!)
const folderOf = (file: string): string => file.split('/')[0]!

describe('imports flow downhill', () => {
  test.each(sources)(
    '$file imports only what lies below it, because whoever reads upwards finds no beginning',
    ({ file, text }) => {
      const own = folderOf(file)
      for (const specifier of importsOf(text).filter((name) => name.startsWith('.'))) {
        const target = normalize(join(dirname(file), specifier))
        if (target.startsWith('../migrations/')) expect(own, 'only db knows the migrations').toBe('db')
        else if (folderOf(target) !== own) expect(MAY[own], `${file} → ${target}`).toContain(folderOf(target))
      }
    },
  )

  /** The folders of the command line, from the top down. */
  const CLI = ['commandLine', 'commands', 'jobs', 'exports', 'statements', 'text', 'settings', 'terminal']

  test.each(sources.filter(({ file }) => /^cli\/\w+\//.test(file)))(
    '$file of the command line imports only folders below its own',
    ({ file, text }) => {
      const rankOf = (path: string): number => CLI.indexOf(path.split('/')[1]!)
      expect(CLI, 'a new folder needs its place in this list').toContain(file.split('/')[1])
      for (const specifier of importsOf(text).filter((name) => name.startsWith('.'))) {
        const target = normalize(join(dirname(file), specifier))
        if (/^cli\/\w+\//.test(target))
          expect(rankOf(target), `${file} → ${target}`).toBeGreaterThanOrEqual(rankOf(file))
      }
    },
  )

  test.each(sources)(
    '$file uses packages through their one door, so that each can be replaced in one place',
    ({ file, text }) => {
      for (const specifier of importsOf(text)) {
        const [, door] =
          Object.entries(DOORS).find(([name]) => specifier === name || specifier.startsWith(`${name}/`)) ?? []
        if (door)
          expect(
            [door].flat().some((place) => file.startsWith(place)),
            `${specifier} in ${file}`,
          ).toBe(true)
      }
    },
  )

  test.each(sources.filter(({ file }) => PURE.includes(folderOf(file))))(
    '$file has no clock, network, disk or environment, so that its tests need no mocks',
    ({ text }) => {
      const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$|'[^'\n]*'|"[^"\n]*"/gm, '')
      expect(code).not.toMatch(/\bnew Date\b|\bDate\.|\bIntl\.|\bprocess\.|\bfetch\(|\bperformance\.|Math\.random/)
      for (const specifier of importsOf(text)) expect(specifier).not.toMatch(/^node:(?!buffer)/)
    },
  )

  test.each(sources.filter(({ file }) => STAGES.includes(folderOf(file)) && folderOf(file) !== 'fetch'))(
    '$file takes the time as an argument, so that all of an answer is of one instant',
    ({ text }) => {
      // Library users may leave the argument out.
      const code = text.replaceAll(
        /\bnow(: Instant)? = (Date\.now\(\)|Math\.floor\(Date\.now\(\) \/ 1000\))(?=[,)\s])/g,
        '',
      )
      expect(code).not.toMatch(/\bDate\.now\b|\bnew Date\(\)/)
    },
  )

  /** Where SQL is what is shown: recipes, and what the demo asks. */
  const SHOWN_SQL = [
    'products/recipes/',
    'products/dictionary.ts',
    'cli/commands/demo.ts',
    'page/views/dictionary.ts',
    // What the queue says in its own SQL goes over the connection of the store.
    'cluster/queue.ts',
  ]

  test.each(
    sources.filter(
      ({ file }) => ![...SHOWN_SQL, 'db/', 'tables/', 'emulator/'].some((place) => file.startsWith(place)),
    ),
  )('$file asks by typed queries and by the engine, so that it does not know which database there is', ({ text }) => {
    const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    expect(code).not.toMatch(/import \{[^}]*\bsql\b[^}]*\} from 'kysely'/)
    expect(code).not.toMatch(
      /(?<=[([{=:,?>]\s*)[`']\s*(select\s[^`']*\sfrom\s|insert into |delete from |update \S+ set |set local |pragma |with \w+ as |attach |drop (table|index) )/i,
    )
    expect(code, 'a part of a statement').not.toMatch(
      /\bas materialized\b|\bon conflict\b|\bfor (no key )?update\b|::(bigint|integer|text)\b|\bunnest\(/i,
    )
    expect(code).not.toMatch(
      /(?<!String)\.raw\b|\.(run|get|all|each|rows|prepare|exec)\(\s*[`'](select|insert|update|delete|pragma) /,
    )
  })

  /** Files whose SQL is text for readers. */
  const TIMES = ['db/', 'tables/', 'products/', 'page/queries/series/shownSql.ts']

  test.each(sources.filter(({ file }) => !TIMES.some((place) => file.startsWith(place))))(
    '$file compares times in queries by epochOf, for the function has one name in each database',
    ({ text }) => expect(text).not.toMatch(/\bunixepoch\b/),
  )

  test.each(sources.filter(({ file }) => folderOf(file) !== 'db'))(
    '$file reaches a database by what is said of any, so that nothing depends on which engine it is',
    ({ text }) => {
      expect(importsOf(text).filter((name) => /\bdb\/(sqlite|postgres)\//.test(name))).toEqual([])
      expect(text, 'placeOf says what follows from where a database lies').not.toContain('isAddress')
      expect(text, 'a lock on rows, or the code of an error').not.toMatch(
        /\.for(NoKey)?(Update|Share)\(|SQLSTATE|'\d\d[\dA-Z]\d\d'/,
      )
    },
  )

  /** The only files of `db` itself that know which databases there are, or turn the words of one into those of another. */
  const BACKENDS = ['db/open.ts', 'db/portable.ts', 'db/migrations.ts']

  test.each(sources.filter(({ file }) => /^db\/(?!sqlite\/|postgres\/)/.test(file)))(
    '$file is the same for every database, so that a second one is a folder beside the first',
    ({ file, text }) => {
      const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
      if (!BACKENDS.includes(file)) {
        expect(code).not.toMatch(/sqlite/i)
        expect(code).not.toMatch(
          /\b(pg_\w+|clock_timestamp|date_part|extract\(epoch|unnest|regclass|citus|create_distributed_table|for(NoKey)?(Update|Share))\b|::\w/i,
        )
      }
      expect(code).not.toMatch(
        /\b(pragma|json_each|json_extract|strftime|unixepoch|printf|iif|ifnull|rowid|typeof\(\$|vacuum|attach)\b|-wal\b|\.raw\b/i,
      )
      expect(importsOf(text).filter((name) => name.startsWith('node:fs'))).toEqual([])
    },
  )

  /** What answers in the zone of the process. */
  const LOCAL =
    /\.(?:get|set)(?:Hours|Minutes|Date|Day|Month|FullYear)\(|getTimezoneOffset|to(?:Date|Time)String\(|toLocale(?:Date|Time)String|new Date\([^()]*,/

  test.each(sources.filter(({ file }) => !/^page\/client\/|^base\/time\/zone\.ts/.test(file)))(
    '$file does not ask for the zone of the process, which differs between two machines',
    ({ text }) => expect(text).not.toMatch(LOCAL),
  )

  test.each(sources)(
    '$file decides by the class of an error and not by its code, for a wrong class does not compile and a wrong word does',
    ({ file, text }) => {
      expect(text).not.toMatch(/(?<!typeof [\w.]*|issue\.)\bcode\)? [!=]== '[a-z]+(-[a-z]+)*'/)
      // What a database says has a code only.
      if (!/^db\/(sqlite|postgres)\//.test(file)) expect(text).not.toMatch(/\.code [!=]== [A-Z_]+\b(?!\.)/)
    },
  )

  test('the environment is read by the terminal only', () => {
    for (const { file, text } of sources) if (folderOf(file) !== 'cli') expect(text, file).not.toContain('process.env')
  })

  test('no two files import each other in a circle', () => {
    const graph = new Map(
      sources.map(({ file, text }) => [
        file,
        importsOf(text)
          .filter((name) => name.startsWith('.'))
          .map((name) => normalize(join(dirname(file), name))),
      ]),
    )
    const visit = (file: string, path: readonly string[]): void => {
      expect(path, `a circle: ${[...path, file].join(' → ')}`).not.toContain(file)
      for (const next of graph.get(file) ?? []) if (!done.has(next)) visit(next, [...path, file])
      done.add(file)
    }
    const done = new Set<string>()
    for (const file of graph.keys()) visit(file, [])
  })

  test('every folder of src has a folder of tests, and every command a file of its own', () => {
    const folders = new Set(files.map((file) => file.split('/')[0]!).filter((name) => !name.endsWith('.ts')))
    for (const folder of folders) expect(existsSync(join('test', folder)), folder).toBe(true)
    for (const file of files.filter((name) => dirname(name) === 'cli/commands'))
      expect(existsSync(join('test', file.replace('.ts', '.test.ts'))), file).toBe(true)
  })

  test('no folder is a drawer, and nothing is a default export', () => {
    for (const { file, text } of sources) {
      expect(file).not.toMatch(/utils|helpers|common|manager|core\/|types\//)
      expect(text, `${file} has a default export`).not.toMatch(/^export default/m)
    }
  })

  test('no literal is spread into an object, for the compiler does not look for misspelled properties in it', () => {
    // A list of objects in a tuple type is written `...{ a: string }[]`.
    for (const folder of ['src', 'test', 'bench', 'build'])
      for (const file of (readdirSync(folder, { recursive: true }) as string[]).filter((name) => name.endsWith('.ts')))
        expect(readFileSync(join(folder, file), 'utf8'), file).not.toMatch(/\.\.\.\(?\{(?![^{}]*\}\[\])/)
  })
})
