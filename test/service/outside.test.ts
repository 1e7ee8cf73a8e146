import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SERVICES } from '../../src/service/services.ts'

/** The code of every file outside of `service` and of the embedded copy of the service. */
const OUTSIDE = (readdirSync('src', { recursive: true }) as string[])
  .filter((file) => file.endsWith('.ts') && !/^(service|emulator)\//.test(file))
  .map((file) => ({
    file,
    code: readFileSync(join('src', file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm, ''),
  }))

test('what is particular to a service is in its declaration, and in the copy of it for tests', () => {
  const { wellKnown, mainGeos, routes } = SERVICES.generic
  const oneOf = (words: Iterable<string | number>): string => `(${[...new Set(words)].join('|')})`
  const indicators = oneOf(Object.values(wellKnown).map(({ indicator }) => indicator))
  // These numbers mean nothing else; 600 and 3 also count other things.
  const telling = [
    ...Object.values(wellKnown).map(({ indicator }) => indicator),
    ...mainGeos,
    SERVICES.generic.steps.coarse!,
  ]
  const roots = oneOf(Object.values(routes).map(({ root }) => root))
  const FORBIDDEN = [
    new RegExp(`\\b${oneOf(telling.filter((number) => ![600, 3].includes(number)))}\\b`),
    new RegExp(`(indicators?|indicator_id|show|series|--only|--with)\\b\\W{0,9}\\b${indicators}\\b`),
    new RegExp(`\\bgeo(_?ids?)?\\b[^\\w$]{1,5}${oneOf(mainGeos)}\\b`, 'i'),
    new RegExp(`\\$\\.${roots}\\b`),
    new RegExp(`\\bbody\\.${roots}\\b`),
    /\b(Madrid|Spain|esios)\b/i,
    /'es'/,
    /locale desc/,
    /precio/i,
    /x-api-key/i,
    // What a job calls its entries is in `job/entryRoutes.ts`.
    /'offer_indicator'/,
    /\bkind\b['\s,=!?:]{1,10}'indicator'/,
  ]
  // Examples of commands work on the database of the demo.
  const EXAMPLES = /^export const examples = \[[\s\S]*?\]$/m
  const own = (file: string): boolean =>
    ['page/words/', 'job/entryRoutes.ts', 'cli/commandLine/help.ts'].some((place) => file.startsWith(place))
  const found = OUTSIDE.filter(({ file }) => !own(file)).flatMap(({ file, code }) =>
    FORBIDDEN.flatMap((pattern) => pattern.exec(code.replace(EXAMPLES, ''))?.[0] ?? []).map(
      (text) => `${file}: ${text}`,
    ),
  )
  expect(found, 'take it from the service').toEqual([])
})

/** What is exported by `service` and the same for every service. */
const NEUTRAL = [...['LANGUAGE_NAMES', 'SERVICE_NAMES'], ...['ONE_DAY', 'ONE_MONTH', 'ONE_WEEK', 'ONE_YEAR']]

/** Where values of one service may be used without being told which service is meant. */
const NAMED: readonly { readonly names: readonly string[]; readonly files: readonly string[]; readonly why: string }[] =
  [
    { names: ['SERVICES'], files: ['cli/settings/config.ts'], why: 'a service is found by its name' },
    { names: ['SERVICES'], files: ['cli/commands/demo.ts'], why: 'the demo is about the embedded copy of the service' },
    {
      names: ['SERVICES'],
      files: ['job/read.ts', 'job/file/jobFile.ts', 'sync/replay.ts', 'index.ts'],
      why: 'users of the library may leave the service out',
    },
    { names: ['ROUTES'], files: ['index.ts'], why: 'calls of the routes of the specification are typed' },
    {
      names: ['LIVE'],
      files: ['cli/settings/config.ts', 'cli/commands/doctor.ts', 'cli/commands/init.ts'],
      why: 'who has named no service is told how the live one is called',
    },
    {
      names: ['EXAMPLE', 'SECOND_EXAMPLE'],
      files: ['cli/flags.ts'],
      why: 'the help is the same whatever service is named',
    },
    { names: ['LOCALES'], files: ['db/tables/sql/expressions.ts'], why: 'the SQL of the views is in the database' },
    { names: ['ROUTES'], files: ['db/tables/declare.ts'], why: 'the dictionary names the kinds that have views' },
  ]

test('values of one service are not used where a service could be given', () => {
  const particular = readdirSync('src/service').flatMap((file) =>
    [...readFileSync(join('src/service', file), 'utf8').matchAll(/^export const (?:\[(.*?)\]|(\w+))/gm)]
      .flatMap(([, several, one]) => several?.split(', ') ?? one!)
      .filter((name) => /^[A-Z\d_]+$/.test(name) && !NEUTRAL.includes(name)),
  )
  particular.push('routeOf')
  expect(particular).toEqual(expect.arrayContaining(['SERVICES', 'LOCALES', 'EXAMPLE', 'SECOND_EXAMPLE', 'ROUTES']))
  const uses = OUTSIDE.flatMap(({ file, code }) =>
    [...code.matchAll(/^(?:import|export) \{([^}]*)\} from '[^']*service\/\w+\.ts'/gm)].flatMap(([, names]) =>
      names!.split(',').flatMap((name) => (particular.includes(name.trim()) ? { file, name: name.trim() } : [])),
    ),
  )
  const allows = ({ names, files }: (typeof NAMED)[number], use: { file: string; name: string }): boolean =>
    names.includes(use.name) && files.includes(use.file)
  const strange = uses.filter((use) => !NAMED.some((one) => allows(one, use)))
  expect(strange, 'take a Service as an argument').toEqual([])
  for (const { names, files, why } of NAMED)
    for (const file of files)
      expect(
        uses.some((use) => use.file === file && names.includes(use.name)),
        `${file} does not use ${names} any more: ${why}`,
      ).toBe(true)
})
