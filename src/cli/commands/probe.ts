import { join } from 'node:path'
import { databaseFolder } from '../../db/address.ts'
import type { Store } from '../../db/store.ts'
import { createClient, openClient } from '../../fetch/client.ts'
import { createPacer } from '../../fetch/pacer.ts'
import { fetchProbe, type ProbeResult } from '../../fetch/probe.ts'
import { normalizeJob } from '../../job/normalize.ts'
import { type Assumption, judgeAssumption, type Verdict } from '../../service/assumptions/assumption.ts'
import { ASSUMPTIONS } from '../../service/assumptions/assumptions.ts'
import { REQUEST_NAMES, type RequestName } from '../../service/assumptions/probeRequests.ts'
import { didYouMean } from '../../util/didYouMean.ts'
import { InputError } from '../../util/errors.ts'
import { createEmitter } from '../../util/events.ts'
import { readRecording, writeRecorded } from '../../util/files/recording.ts'
import { openTargetFolder } from '../../util/files/targetFolder.ts'
import { eventsTo } from '../../util/log.ts'
import { quantity } from '../../util/text.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG, SERVICE_FLAGS } from '../flags.ts'
import { readJobs } from '../jobs/readJobs.ts'
import { type CommandSettings, readSettings, requireService } from '../settings/config.ts'
import { databaseExists, withWriter } from '../settings/databases.ts'
import { EXIT, exitCodeFor, failedFields } from '../terminal/fail.ts'
import { printResult } from '../terminal/output.ts'
import { createReporter, logFor } from '../terminal/progress.ts'
import { watchSignals } from '../terminal/signals.ts'
import { tableText } from '../terminal/table.ts'

export const flags = {
  ...DATABASE_FLAG,
  ...SERVICE_FLAGS,
  only: { type: 'string', array: true, describe: 'Limit to these assumptions' },
  record: {
    type: 'string',
    defaultDescription: 'probe/ beside the database',
    describe: 'Keep requests and responses in this folder',
  },
  refresh: { type: 'boolean', default: false, describe: 'Send recorded requests again' },
  job: { type: 'string', describe: 'Use pace and call budget of this job file' },
  ...JSON_FLAG,
} as const
export const examples = ['probe --service esios', 'probe --service esios --only average period-start --record report']

type ProbeArgs = Args<typeof flags>

/** Selects the assumptions of `--only`. Throws InputError for an unknown one. */
function selectAssumptions(only: readonly string[] | undefined): readonly Assumption[] {
  if (only === undefined) return ASSUMPTIONS
  const ids = only.flatMap((words) => words.split(','))
  const known = ASSUMPTIONS.map(({ id }) => id)
  for (const id of ids)
    if (!known.includes(id))
      throw new InputError(`--only ${JSON.stringify(id)} is not an assumption.${didYouMean(id, known)}`, {
        hint: `Choose from: ${known.join(', ')}`,
        code: 'bad-only',
      })
  return ASSUMPTIONS.filter(({ id }) => ids.includes(id))
}

/** An assumption with what the responses show about it. */
interface Judged
  extends Verdict,
    Pick<Assumption, 'id' | 'expected' | 'certainty' | 'source' | 'matters' | 'requests'> {
  /** What the program does if it does not hold. */
  readonly consequence: string
}

const judgeAll = (assumptions: readonly Assumption[], { responses }: ProbeResult): Judged[] =>
  assumptions.map((assumption) => {
    const { id, expected, certainty, source, matters, requests, consequence } = assumption
    const { verdict, seen } = judgeAssumption(assumption, responses)
    return { id, expected, seen, verdict, certainty, source, matters, consequence, requests }
  })

function probeText(judged: readonly Judged[], { requests, failed }: ProbeResult, folder: string): string {
  const count = (word: Verdict['verdict']): number => judged.filter(({ verdict }) => verdict === word).length
  const rows = judged.map(({ id, expected, seen, verdict, matters, consequence }) => [
    id,
    expected,
    seen,
    verdict === 'deviates' && matters ? 'DEVIATES' : verdict,
    verdict === 'holds' ? '' : consequence,
  ])
  return [
    tableText({ columns: ['assumption', 'expected', 'seen', 'verdict', 'consequence'], rows }),
    '',
    // A narrow terminal shortens the texts of the table.
    ...judged
      .filter(({ verdict }) => verdict === 'deviates')
      .map(({ id, expected, seen, consequence }) => `${id}: ${expected}\n  Seen: ${seen}.\n  → ${consequence}`),
    ...failed.map(({ name, reason }) => `Request ${name} has no usable response: ${reason}`),
    `${count('holds')} hold, ${count('deviates')} deviate, ${count('unknown')} unknown. Sent ${quantity(requests, 'request')}; responses are in ${folder}.`,
  ].join('\n')
}

/** Calls `probe` with the open database in which calls are recorded, if one was set or exists. */
async function withBudget<T>({ database }: CommandSettings, probe: (store: Store | null) => Promise<T>): Promise<T> {
  const isSet = database.from !== 'default' || (await databaseExists(database.value))
  return isSet ? withWriter(database.value, 'probe', probe) : probe(null)
}

export async function handler(args: ProbeArgs): Promise<number> {
  const settings = readSettings(args)
  const assumptions = selectAssumptions(args.only)
  const access = requireService(settings)
  const { service } = access
  const [job] = args.job === undefined ? [] : readJobs([args.job], service)
  const pace = { ...(job ?? normalizeJob({ name: 'probe', series: [] }, service)).pace, concurrency: 1 }
  const wanted = new Set<RequestName>(assumptions.flatMap(({ requests }) => requests))
  const asWritten = args.record ?? join(databaseFolder(settings.database.value) ?? 'data', 'probe')
  const log = logFor(args, [access.key])
  const emit = createEmitter(eventsTo(log), { command: 'probe' })
  const report = createReporter(log)
  return withBudget(settings, async (store) => {
    const folder = openTargetFolder(asWritten, 'a recording')
    const signals = watchSignals((fields) => emit('signal.received', fields))
    const { signal } = signals
    const client = store
      ? await openClient(access, { store, pace, nowMs: Date.now, signal, emit })
      : createClient(access, { pacer: createPacer(pace), concurrency: 1, signal, emit })
    try {
      const names = REQUEST_NAMES.filter((name) => wanted.has(name))
      let received = 0
      const result = await fetchProbe({
        client,
        service,
        names,
        recorded: args.refresh ? [] : readRecording(folder),
        onResponse: (response) => {
          writeRecorded(folder, response)
          report(`${++received} of at most ${quantity(names.length, 'request')} sent`)
        },
      })
      const { earlyEnd, failed, requests, responses } = result
      const judged = judgeAll(assumptions, result)
      const isUntested = earlyEnd !== null && Object.keys(responses).length === 0
      printResult(
        args,
        { folder, requests, failed, stop: earlyEnd?.message ?? null, assumptions: judged },
        // Without any response, the error says everything.
        isUntested ? '' : probeText(judged, result, asWritten),
      )
      if (earlyEnd) emit('command.failed', failedFields(earlyEnd))
      const isWrong = judged.some(({ verdict, matters }) => verdict === 'deviates' && matters)
      const stopCode = signals.code()
      if (stopCode !== undefined) return stopCode
      if (isWrong) return EXIT.check
      if (earlyEnd) return exitCodeFor(earlyEnd)
      return failed.length > 0 ? EXIT.partial : EXIT.done
    } finally {
      signals.release()
      await client.close()
    }
  })
}
