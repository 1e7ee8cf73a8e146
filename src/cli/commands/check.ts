import { openReader } from '../../db/open.ts'
import { runChecks } from '../../reports/check.ts'
import { pendingText, pendingValues } from '../../reports/pending.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'
import { tableText } from '../terminal/table.ts'

export const flags = {
  ...DATABASE_FLAG,
  deep: { type: 'boolean', default: false, describe: 'Also compare stored daily totals with the values (slow)' },
  ...JSON_FLAG,
} as const
export const examples = ['check --database data/demo.db', 'check --deep --json --database data/demo.db']

export async function handler(args: Args<typeof flags>): Promise<number> {
  const reader = openReader(readSettings(args).database.value)
  try {
    const findings = await runChecks(reader, Math.floor(Date.now() / 1000), args)
    if (args.json) print(JSON.stringify(findings, null, 2))
    else if (findings.length === 0) {
      const pending = pendingText(await pendingValues(reader))
      print(`No findings.${pending && `\n${pending}`}`)
    } else print(tableText({ columns: ['check', 'what'], rows: findings.map(({ check, what }) => [check, what]) }))
    return findings.length === 0 ? EXIT.done : EXIT.check
  } finally {
    await reader.close()
  }
}
