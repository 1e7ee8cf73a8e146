import { readQueues } from '../../db/queries/queues.ts'
import { callsLeft } from '../../fetch/budget.ts'
import { parseHost } from '../../fetch/hosts.ts'
import { prometheusText } from '../../findings/metrics.ts'
import { readStatus } from '../../findings/readStatus.ts'
import { isBucket } from '../../lake/places/place.ts'
import { type LakeState, readLakeState } from '../../lake/state.ts'
import { SyncError } from '../../util/errors.ts'
import { version } from '../../util/package.ts'
import { asSystemError } from '../../util/systemErrors.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG, SERVICE_FLAG } from '../flags.ts'
import { listLakesOfJobs } from '../jobs/lakes.ts'
import { readJobs } from '../jobs/readJobs.ts'
import { readSettings } from '../settings/config.ts'
import { withReader } from '../settings/databases.ts'
import { withLake } from '../settings/storage.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'
import { lineWidth, wrapText } from '../terminal/width.ts'
import { lakeStateText, queuesText, statusText, withLag } from '../text/statusText.ts'

export const flags = {
  ...DATABASE_FLAG,
  ...SERVICE_FLAG,
  job: {
    type: 'string',
    array: true,
    nargs: 1,
    describe: "Add this job file's Parquet lake (prometheus: also calls left)",
  },
  all: { type: 'boolean', default: false, describe: 'Print every series and finding' },
  format: { choices: ['text', 'json', 'prometheus'], default: 'text', describe: 'Set the output format' },
  ...JSON_FLAG,
} as const
export const examples = ['status --database data/demo.db', 'status --format prometheus --database data/demo.db']

/** Prints runs, freshness and failures. */
export async function handler(args: Args<typeof flags>): Promise<number> {
  const { database, baseUrl, service } = readSettings(args)
  const file = database.value
  const jobs = readJobs(args.job ?? [], service.value)
  return withReader(file, async (reader) => {
    const lakes: LakeState[] = []
    const lakeProblems: string[] = []
    const named = jobs.flatMap(({ lake }) => lake ?? [])
    const found = args.format === 'prometheus' ? [] : listLakesOfJobs(service.value)
    // Reading a bucket takes credentials and a network, so it is read only if it is named.
    for (const folder of new Set([...named, ...found]))
      if (isBucket(folder) && !named.includes(folder))
        lakeProblems.push(`Lake ${folder}: it is in a bucket. To read it, run: indicator-sync status --job JOB.yaml`)
      else
        try {
          lakes.push(...(await withLake(folder, (place) => readLakeState(reader, place))))
        } catch (thrown) {
          // A broken lake must not hide the rest of the status.
          const error = asSystemError(thrown)
          if (!(error instanceof SyncError)) throw error
          lakeProblems.push(`Lake ${folder}: ${error.message} ${error.hint ?? ''}`.trimEnd())
        }
    if (args.format === 'prometheus') {
      const budgets: { job: string; calls: number }[] = []
      for (const { name: job, pace } of jobs) {
        const calls = baseUrl ? await callsLeft(reader, parseHost(baseUrl.value), pace, Date.now()) : undefined
        if (calls !== undefined) budgets.push({ job, calls })
      }
      print((await prometheusText(reader, { version: version(), callsLeft: budgets, lakes })).trimEnd())
      for (const text of lakeProblems) process.stderr.write(`${text}\n`)
      return EXIT.done
    }
    const read = await readStatus(reader)
    const queues = await readQueues(reader)
    const status = { ...read, series: read.series.map(withLag) }
    if (args.json || args.format === 'json') {
      print(JSON.stringify({ database: file, ...status, lakes, ...(queues ? { queues } : {}) }, null, 2))
      return EXIT.done
    }
    const cells = lineWidth()
    print(statusText(file, status, { cells, zone: service.value.timeZone, listsAll: args.all }))
    if (queues) for (const line of queuesText(queues)) print(wrapText(line, cells, '  ', ''))
    for (const lake of lakes) print(`\n${wrapText(lakeStateText(lake, Date.now()), cells, '  ', '')}`)
    for (const text of lakeProblems) print(`\n${wrapText(text, cells, '  ', '')}`)
    return EXIT.done
  })
}
