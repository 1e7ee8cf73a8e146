import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PAGE_LOCALES } from '../src/page/words/locale.ts'

/** Names that several files declare with one meaning, exported or not, and why each of them has it. A file may be named once, or a folder. */
const SHARED: readonly { readonly names?: readonly string[]; readonly files: RegExp; readonly why: string }[] = [
  {
    names: ['run'],
    files: /^cli\/(commands\/|commandLine\/completion\.ts)/,
    why: 'a command, as `command.ts` calls it',
  },
  { names: PAGE_LOCALES, files: /^page\/words\//, why: 'the words of a page in a language' },
  {
    files: /^db\/(open\.ts|lock\.ts|sqlite\/|postgres\/)/,
    why: 'an operation of a backend and what it is made of, in each database and in the file that chooses one',
  },
  {
    names: ['instant', 'flag'],
    files: /^(tables\/declare|services\/kinds)\.ts/,
    why: 'a kind of column and a kind of parameter, in the words of two declarations',
  },
  {
    names: ['DAY', 'Carpet', 'offsetAt', 'padTwo', 'timeText'],
    files: /^(page\/|base\/time\/)/,
    why: 'one thing on the server and in the browser, which share no code',
  },
  {
    names: ['Data', 'read', 'show', 'row', 'cell', 'item'],
    files: /^page\/views\//,
    why: 'the parts of a view: what it reads, and what it shows of that',
  },
  { names: ['COLUMNS'], files: /./, why: 'the columns of the one table that a file reads, writes or prints' },
  {
    names: ['KNOWN'],
    files: /^transform\//,
    why: 'the fields of an answer that have a column: the others are its payload',
  },
  {
    names: ['MAX_ATTEMPTS', 'POLL_MS'],
    files: /./,
    why: 'the word of the field for how often and how soon again; each file has its number',
  },
  { names: ['client'], files: /^threads\//, why: 'the one thread of each reader' },
]

interface Declared {
  readonly file: string
  readonly name: string
}

const filesIn = (folder: string): string[] =>
  (readdirSync(folder, { recursive: true }) as string[]).filter((file) => file.endsWith('.ts'))
const files = filesIn('src')
const ONE = /^(?:export )?(?:async )?(?:function\*?|const|let|interface|type|class) (\w+)/gm
const SEVERAL = /^(?:export )?(?:const|let) [[{]([^=]*?)[\]}] = /gm
/** What files declare at their top level: all else is indented, as lint requires. */
const declared = files.flatMap((file): Declared[] => {
  const text = readFileSync(join('src', file), 'utf8')
  const names = [
    ...[...text.matchAll(ONE)].map(([, name]) => name!),
    ...[...text.matchAll(SEVERAL)].flatMap(([, list]) => list!.split(',').map((name) => name.trim())),
  ]
  return names.map((name) => ({ file, name }))
})

interface Repeated {
  readonly name: string
  readonly files: readonly string[]
}

/** The names that stand in more than one file, with those files; overloads are one. */
const repeated = (of: readonly Declared[]): Repeated[] =>
  [...Map.groupBy(of, ({ name }) => name)]
    .map(([name, places]) => ({ name, files: [...new Set(places.map(({ file }) => file))] }))
    .filter((one) => one.files.length > 1)
const several = repeated(declared)

const isShared = ({ name, files }: Repeated): boolean =>
  SHARED.some((shared) => (shared.names?.includes(name) ?? true) && files.every((file) => shared.files.test(file)))

test('a name has one meaning, so that whoever finds it elsewhere knows it already', () => {
  expect(several.filter((one) => !isShared(one))).toEqual([])
})

test('within one database a name stands once, too', () => {
  for (const folder of ['db/sqlite/', 'db/postgres/'])
    expect(repeated(declared.filter(({ file }) => file.startsWith(folder))), folder).toEqual([])
})

test('every name that may stand in several files does', () => {
  for (const { names = [], why } of SHARED)
    for (const name of names)
      expect(
        several.map((one) => one.name),
        why,
      ).toContain(name)
})

/** Names that say less than the standard word, by what stands in their place. */
const INSTEAD: Readonly<Record<string, string>> = {
  told: 'what it is: a count, a line, a reason',
  said: 'what it is: a reason, a pattern, a value',
  tries: 'attempts',
  patience: 'a timeout or limits',
  hurry: 'limits',
  look_ms: 'POLL_MS',
  asked: 'requested, given',
  ask: 'send, request',
  tell: 'report, send',
  untold: 'what is missing',
  judge: 'classify, check',
  settle: 'what it does: end, record, schedule',
}

test('a value is named by what it is, in the words of the field', () => {
  const all = ['src', 'test', 'bench'].flatMap((folder) => filesIn(folder).map((file) => join(folder, file)))
  const named = all.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\b(?:const|let|function|type|interface) (\w+)/g)].flatMap(([, name]) => {
      const instead = INSTEAD[name!.toLowerCase()]
      return instead === undefined ? [] : [`${file}: ${name}, better ${instead}`]
    }),
  )
  expect(named).toEqual([])
})
