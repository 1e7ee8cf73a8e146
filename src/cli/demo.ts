import { SERVICES } from '../api/services.ts'
import { startEmulator } from '../emulator/emulator.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs, DatabaseArgs } from './flags.ts'
import { readJobs } from './jobs.ts'
import { logFor } from './logging.ts'
import { grouped, print, table } from './output.ts'
import { ask } from './query.ts'
import { summaryText } from './summary.ts'
import { runJobs } from './sync.ts'
import { packageFile } from './version.ts'

const DATABASE = 'data/demo.db'

/** Questions worth asking of the demo, with the SQL that anybody can repeat. */
const QUESTIONS = [
  {
    asks: 'The average day-ahead price of the last days, in local days',
    sql: `select local_date, count, round(min, 2) as lowest, round(avg, 2) as average, round(max, 2) as highest
from observations_daily where indicator_id = 600 and geo_id = 3 order by local_date desc limit 5`,
  },
  {
    asks: 'The dearest quarter-hours',
    sql: `select at_local, geo_name, value as eur_mwh
from observations where indicator_id = 600 and geo_id = 3 order by value desc limit 5`,
  },
  {
    asks: 'What the glossary says about prices',
    sql: `select title, substr(body_text, 1, 90) || '…' as meaning
from content_text where kind = 'glossary' and locale = 'en' and body_text like '%price%' order by title limit 5`,
  },
] as const

export async function run(args: CommonArgs & DatabaseArgs): Promise<number> {
  const file = args.database ?? DATABASE
  const jobs = readJobs([packageFile('jobs/demo.yaml')])
  const emulator = await startEmulator({})
  try {
    const log = logFor(args, [emulator.key])
    log.info(`An embedded copy of the service answers on ${emulator.url}.`)
    const { code, summaries } = await runJobs(jobs, {
      service: SERVICES.generic,
      baseUrl: emulator.url,
      key: emulator.key,
      file,
      command: 'demo',
      log,
      quiet: args.quiet,
    })
    print(summaries.map(summaryText).join('\n'))
    if (code !== EXIT.done) return code
  } finally {
    await emulator.close()
  }
  const {
    rows: [row],
  } = await ask(
    file,
    'select (select count(*) from observation), (select count(*) from series), (select count(*) from content), (select count(*) from archive_edition), (select count(*) from widget)',
  )
  const [values, series, contents, editions, widgets] = (row as number[]).map(grouped)
  print(
    `${file} holds ${values} values of ${series} series, ${contents} texts, ${editions} archive editions and ${widgets} widgets.\n`,
  )
  for (const { asks, sql } of QUESTIONS) print(`── ${asks}\n${sql}\n\n${table(await ask(file, sql))}\n`)
  print(
    [
      'Next:',
      `  npx indicator-sync demo                         the second run asks only what is new`,
      `  npx indicator-sync status --database ${file}`,
      `  npx indicator-sync query --database ${file} "select * from latest"`,
      `  npx indicator-sync init my-market              a job file of your own, for the live service`,
    ].join('\n'),
  )
  return EXIT.done
}
