import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PAGE_LOCALES } from '../src/page/words/locale.ts'

/** Names that several files export with one meaning, and why each of them has it. A file may be named once, or a folder. */
const SHARED: readonly { readonly names?: readonly string[]; readonly files: RegExp; readonly why: string }[] = [
  {
    names: ['run'],
    files: /^cli\/(commands\/|commandLine\/completion\.ts)/,
    why: 'a command, as `command.ts` calls it',
  },
  { names: PAGE_LOCALES, files: /^page\/words\//, why: 'the words of a page in a language' },
  {
    files: /^db\/(open\.ts|lock\.ts|sqlite\/|postgres\/)/,
    why: 'an operation of a backend, in each database and in the file that chooses one',
  },
  {
    names: ['instant', 'flag'],
    files: /^(tables\/declare|services\/kinds)\.ts/,
    why: 'a kind of column and a kind of parameter, in the words of two declarations',
  },
  {
    names: ['timeText'],
    files: /^page\/(views\/times|client\/clock)\.ts/,
    why: 'one text, written by the server and in the browser, which share no code',
  },
]

const files = (readdirSync('src', { recursive: true }) as string[]).filter((file) => file.endsWith('.ts'))
const exported = files.flatMap((file) =>
  [
    ...readFileSync(join('src', file), 'utf8').matchAll(
      /^export (?:async )?(?:function\*?|const|let|interface|type|class) (\w+)/gm,
    ),
  ].map(([, name]) => ({ file, name: name! })),
)
/** The exported names that stand in more than one file, with those files; overloads are one. */
const several = [...Map.groupBy(exported, ({ name }) => name)]
  .map(([name, places]) => ({ name, files: [...new Set(places.map(({ file }) => file))] }))
  .filter((one) => one.files.length > 1)

const isShared = ({ name, files }: { readonly name: string; readonly files: readonly string[] }): boolean =>
  SHARED.some((shared) => (shared.names?.includes(name) ?? true) && files.every((file) => shared.files.test(file)))

test('an exported name has one meaning, so that whoever finds it elsewhere knows it already', () => {
  expect(several.filter((one) => !isShared(one))).toEqual([])
})

test('within one database a name stands once, too', () => {
  for (const { name, files } of several)
    for (const folder of ['db/sqlite/', 'db/postgres/'])
      expect(files.filter((file) => file.startsWith(folder)).length, `${name} in ${folder}`).toBeLessThanOrEqual(1)
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
}

test('a value is named by what it is, in the words of the field', () => {
  const named = files.flatMap((file) =>
    [...readFileSync(join('src', file), 'utf8').matchAll(/\b(?:const|let|type|interface) (\w+)/g)].flatMap(
      ([, name]) => {
        const instead = INSTEAD[name!.toLowerCase()]
        return instead === undefined ? [] : [`${file}: ${name}, better ${instead}`]
      },
    ),
  )
  expect(named).toEqual([])
})
