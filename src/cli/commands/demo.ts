import { allRows } from '../../db/engine.ts'
import { openStore } from '../../db/open.ts'
import { startEmulator } from '../../emulator/startEmulator.ts'
import { runQuery } from '../../reports/statements/runQuery.ts'
import { SERVICES } from '../../service/services.ts'
import { InputError } from '../../util/errors.ts'
import { packageFile } from '../../util/package.ts'
import { grouped } from '../../util/text.ts'
import { DAY, toInstant } from '../../util/time/instant.ts'
import type { Args } from '../command.ts'
import { readJobs } from '../jobs/readJobs.ts'
import { runCommand } from '../jobs/runCommand.ts'
import { databaseExists, withReader } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'
import { logFor } from '../terminal/progress.ts'
import { type ResultRows, tableText } from '../terminal/table.ts'
import { summaryText } from '../text/summary.ts'

export const flags = {
  database: { type: 'string', default: 'data/demo.db', describe: 'Set the database file' },
} as const
export const examples = ['demo', 'demo --database /tmp/demo.db']

/** The service that the emulator imitates. */
const DEMO_SERVICE = SERVICES.generic
const { spotPrice } = DEMO_SERVICE.wellKnown
const SPOT_PRICE = `indicator_id = ${spotPrice.indicator} and time_trunc is null and geo_agg is null and geo_id = ${spotPrice.geo}`

/** Example queries on the demo database. */
const EXAMPLES = {
  'Average day-ahead price of the last five local days': `select local_date, count, round(min, 2) as lowest, round(avg, 2) as average, round(max, 2) as highest
from observations_daily
where ${SPOT_PRICE} order by local_date desc limit 5`,
  'The most expensive quarter-hours': `select at_local, geo_name, value as eur_mwh
from observations
where ${SPOT_PRICE} order by value desc limit 5`,
  'Glossary entries about prices': `select title, substr(body_text, 1, 90) || '…' as meaning
from content_text where kind = 'glossary' and locale = 'en' and body_text like '%price%' order by title limit 5`,
} as const

const COUNTS = ['observation', 'series', 'content', 'archive_edition', 'widget'].map(
  (table) => `(select count(*) from ${table})`,
)

/** The runs that fill a new database, with the age of their clock in milliseconds. */
const FIRST_RUNS = [
  { name: 'Yesterday', age: DAY * 1000 },
  { name: 'Today', age: 0 },
]

/** Refuses a database with values of a real service: the demo would mix its invented values with them. */
async function checkTarget(file: string): Promise<void> {
  if (!(await databaseExists(file))) return
  const store = await openStore(file)
  try {
    const real = await store.kysely
      .selectFrom('_run')
      .select('job')
      .where('command', '<>', 'demo')
      .where('rows_new', '>', 0)
      .limit(1)
      .executeTakeFirst()
    if (real === undefined) return
    throw new InputError(`${file} contains real data of job ${real.job}; the demo would mix it with invented values.`, {
      hint: 'Choose another file: indicator-sync demo --database data/demo.db',
      code: 'not-a-demo',
    })
  } finally {
    await store.close()
  }
}

export async function handler(args: Args<typeof flags>): Promise<number> {
  const file = args.database
  await checkTarget(file)
  const jobs = readJobs([packageFile('jobs/demo.yaml')], DEMO_SERVICE)
  // A new database also gets the data of yesterday, so that it has revisions.
  const runs = (await databaseExists(file)) ? [{ name: 'demo', age: 0 }] : FIRST_RUNS
  let age = 0
  const nowMs = (): number => Date.now() - age
  const emulator = await startEmulator({ now: () => toInstant(nowMs()) })
  try {
    const log = logFor(args, [emulator.key])
    log.info(`The emulated service listens on ${emulator.url}.`)
    for (const run of runs) {
      age = run.age
      const { code, summaries } = await runCommand(jobs, {
        settings: { service: DEMO_SERVICE, baseUrl: emulator.url, key: emulator.key },
        flags: args,
        file,
        command: 'demo',
        nowMs,
        log,
      })
      print(summaries.map((summary) => summaryText({ ...summary, job: run.name })).join('\n'))
      if (code !== EXIT.done) return code
    }
  } finally {
    await emulator.close()
  }
  await withReader(file, async (reader) => {
    const run = async (sql: string): Promise<ResultRows> => {
      const { columns, rows } = await runQuery(reader, { sql })
      return { columns: columns.map(({ name }) => name), rows: await allRows(rows) }
    }
    const [counts] = (await run(`select ${COUNTS.join(', ')}`)).rows
    const [values, series, contents, editions, widgets] = (counts as number[]).map(grouped)
    print(
      `${file} contains ${values} values of ${series} series, ${contents} texts, ${editions} archive editions and ${widgets} widgets.\n`,
    )
    for (const [title, sql] of Object.entries(EXAMPLES)) print(`── ${title}\n${sql}\n\n${tableText(await run(sql))}\n`)
  })
  print(
    [
      'Next:',
      `  npx indicator-sync demo --database ${file}    run it again: it fetches only new data`,
      `  npx indicator-sync serve --open --database ${file}    open it in the browser`,
      `  npx indicator-sync status --database ${file}`,
      `  npx indicator-sync query --database ${file} "select at_local, indicator_name, geo_name, value, unit from latest"`,
      `  npx indicator-sync init my-market              create a job for the live service`,
    ].join('\n'),
  )
  return EXIT.done
}
