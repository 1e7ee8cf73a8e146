import { COMMANDS } from './commands.ts'

/** The meaning of every exit code. */
export const EXIT_CODES = [
  ['0', 'done, or nothing to do'],
  ['1', 'partial: some requests failed or were left out; the rest is stored'],
  ['2', 'wrong usage or configuration'],
  ['3', 'API key refused'],
  ['4', 'stopped: budget spent, long pause requested, or workers died'],
  ['5', 'another process writes to the database'],
  ['6', 'a check failed'],
  ['7', 'database error'],
  ['8', 'service unavailable; run the same command later'],
  ['70', 'internal error'],
  ['129', 'the terminal was closed (SIGHUP)'],
  ['130, 143', 'stopped by SIGINT or SIGTERM'],
] as const

/** The text of `--help` without a command. */
export function helpText(): string {
  const groups = Map.groupBy(Object.entries(COMMANDS), ([, { group }]) => group)
  return [
    'indicator-sync <command>',
    "Mirrors Spain's e·sios electricity market data into SQLite or PostgreSQL.",
    ...[...groups].map(([title, commands]) =>
      [title, ...commands.map(([name, { about }]) => `  ${name.padEnd(12)}${about}`)].join('\n'),
    ),
    'All commands: --help (-h), --quiet, --verbose, --log-format json, --version',
    `Exit codes\n${EXIT_CODES.map(([code, meaning]) => `  ${code.padEnd(10)}${meaning}`).join('\n')}`,
  ].join('\n\n')
}
