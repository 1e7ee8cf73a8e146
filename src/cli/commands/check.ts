import { databaseCommand } from '../../findings/commands.ts'
import { findFindings } from '../../findings/findFindings.ts'
import { countProvisional, provisionalText } from '../../findings/findGaps.ts'
import { groupFindings } from '../../findings/groupFindings.ts'
import { countTolerated, toleratedText } from '../../findings/readers/missingData.ts'
import { findRunningRun } from '../../state/lastRuns.ts'
import { toInstant } from '../../util/time/instant.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG } from '../flags.ts'
import { readSettings } from '../settings/config.ts'
import { withReader } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { printResult } from '../terminal/output.ts'
import { lineWidth } from '../terminal/width.ts'
import { findingsText, inZone } from '../text/findingsText.ts'

export const flags = {
  ...DATABASE_FLAG,
  deep: { type: 'boolean', default: false, describe: 'Also compare stored daily totals with the values (slow)' },
  all: { type: 'boolean', default: false, describe: 'Print each of many similar findings' },
  ...JSON_FLAG,
} as const
export const examples = ['check --database data/demo.db', 'check --deep --json --database data/demo.db']

export const handler = (args: Args<typeof flags>): Promise<number> =>
  withReader(readSettings(args).database.value, async (reader) => {
    const zone = readSettings(args).service.value.timeZone
    const now = toInstant(Date.now())
    const findings = await findFindings(reader, now, {
      depth: args.deep ? 'totals' : 'values',
      isComplete: args.json || args.all,
    })
    const listCommand = databaseCommand(reader, `check --all${args.deep ? ' --deep' : ''}`)
    const isClean = findings.length === 0
    const notes = async () => [
      toleratedText(await countTolerated(reader, now)),
      provisionalText(await countProvisional(reader)),
    ]
    const lines = isClean
      ? ['No findings.', ...(args.json ? [] : await notes())]
      : findingsText(args.all ? findings : groupFindings(findings, listCommand), lineWidth(), zone)
    const text = lines.filter((line) => line !== '').join('\n')
    const running = args.json ? undefined : await findRunningRun(reader)
    const progress =
      running && `\nRun ${running.id} of ${running.job} is in progress since ${inZone(zone, running.started_at)}.`
    printResult(args, findings, `${text}${progress ?? ''}`)
    return isClean ? EXIT.done : EXIT.check
  })
