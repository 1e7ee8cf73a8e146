import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SERVICES } from '../../src/service/services.ts'

/*
 * A second service needs nothing but a declaration (`secondService.test.ts`) as long as no other code names the first one. The words are
 * those of its declaration, so that no lint rule can list them.
 */

/** The code of every file outside `service` and the emulator. */
const OUTSIDE = (readdirSync('src', { recursive: true }) as string[])
  .filter((file) => file.endsWith('.ts') && !/^(service|emulator)\//.test(file))
  .map((file) => ({
    file,
    code: readFileSync(join('src', file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm, ''),
  }))

test('the words of a service appear only in its declaration and its emulator', () => {
  const { wellKnown, mainGeos, routes } = SERVICES.generic
  const oneOf = (words: Iterable<string | number>): string => `(${[...new Set(words)].join('|')})`
  const indicators = oneOf(Object.values(wellKnown).map(({ indicator }) => indicator))
  // These numbers are unambiguous; 600 and 3 also count other things.
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
    // The keys of job entries are in `job/entryRoutes.ts`.
    /'offer_indicator'/,
    /\bkind\b['\s,=!?:]{1,10}'indicator'/,
  ]
  // Examples of commands use the demo database.
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
