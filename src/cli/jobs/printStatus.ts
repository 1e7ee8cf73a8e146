import { openReader } from '../../db/open.ts'
import { readQueues } from '../../db/queries/queues.ts'
import { callsLeft } from '../../fetch/budget.ts'
import { parseHost } from '../../fetch/hosts.ts'
import { isBucket } from '../../lake/places/place.ts'
import { type LakeState, lakeState } from '../../lake/state.ts'
import { prometheusText } from '../../reports/metrics.ts'
import { readCoveredSeries, readStatus } from '../../reports/readStatus.ts'
import { SyncError } from '../../util/errors.ts'
import { version } from '../../util/package.ts'
import type { SettingFlags } from '../settings/config.ts'
import { readSettings } from '../settings/config.ts'
import { withLake } from '../settings/storage.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'
import { lineWidth, wrapText } from '../terminal/width.ts'
import { coverageText, lakeStateText, queuesText, statusText, withLag } from '../text/statusText.ts'
import { lakesOfJobs } from './lakes.ts'
import { readJobs } from './readJobs.ts'

/** The flags of `status`. */
interface StatusArgs extends SettingFlags {
  readonly job?: readonly string[] | undefined
  readonly format: string
  readonly json: boolean
}

/** Prints runs, freshness, coverage and failures. */
export async function printStatus(args: StatusArgs): Promise<number> {
  const { database, baseUrl, service } = readSettings(args)
  const file = database.value
  const jobs = readJobs(args.job ?? [], service.value)
  const reader = openReader(file)
  try {
    const lakes: LakeState[] = []
    const lakeProblems: string[] = []
    const named = jobs.flatMap(({ lake }) => lake ?? [])
    const found = args.format === 'prometheus' ? [] : lakesOfJobs(service.value)
    // A bucket needs its secrets and a network, so it is read only if it is named.
    for (const folder of new Set([...named, ...found]))
      if (isBucket(folder) && !named.includes(folder))
        lakeProblems.push(`Lake ${folder}: it is in a bucket. To read it, run: indicator-sync status --job JOB.yaml`)
      else
        try {
          lakes.push(...(await withLake(folder, (place) => lakeState(reader, place))))
        } catch (error) {
          // A broken lake must not hide the rest of the status.
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
    const covered = await readCoveredSeries(reader)
    print(
      statusText(file, status, covered.length === 0 ? '' : coverageText(covered, service.value.timeZone, cells), cells),
    )
    if (queues) for (const line of queuesText(queues)) print(wrapText(line, cells, '  ', ''))
    for (const lake of lakes) print(`\n${wrapText(lakeStateText(lake, Date.now()), cells, '  ', '')}`)
    for (const text of lakeProblems) print(`\n${wrapText(text, cells, '  ', '')}`)
    return EXIT.done
  } finally {
    await reader.close()
  }
}
