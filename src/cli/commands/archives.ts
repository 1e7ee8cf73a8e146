import { join } from 'node:path'
import { databaseFolder } from '../../db/address.ts'
import { openReader } from '../../db/open.ts'
import type { Reader } from '../../db/store.ts'
import { openClient } from '../../fetch/client.ts'
import { normalizeJob } from '../../job/normalize.ts'
import { downloadEditions } from '../../sync/archives/downloadEditions.ts'
import { type Edition, findEditions, readArchiveKinds, refuseUnknownArchives } from '../../sync/archives/editions.ts'
import { type LoadFailure, type LoadSummary, loadEditions } from '../../sync/archives/loadEditions.ts'
import { didYouMean } from '../../util/didYouMean.ts'
import { InputError } from '../../util/errors.ts'
import { createEmitter } from '../../util/events.ts'
import { eventsTo } from '../../util/log.ts'
import { grouped, oneLine, quantity } from '../../util/text.ts'
import { toInstant } from '../../util/time/instant.ts'
import { localDate } from '../../util/time/zone.ts'
import type { Args } from '../command.ts'
import { requireGoodKey } from '../diagnosis.ts'
import { DATABASE_FLAG, JSON_FLAG, LIMIT_FLAG, RANGE_FLAGS, SERVICE_FLAGS } from '../flags.ts'
import { readJobs } from '../jobs/readJobs.ts'
import { type CommandSettings, readSettings, requireService } from '../settings/config.ts'
import { withReader, withWriter } from '../settings/databases.ts'
import { EXIT, exitCodeFor, failedFields } from '../terminal/fail.ts'
import { printResult, warnOfLimit } from '../terminal/output.ts'
import { logFor } from '../terminal/progress.ts'
import { watchSignals } from '../terminal/signals.ts'
import { tableText } from '../terminal/table.ts'
import { resolveRange } from '../times.ts'

export const positionals = {
  action: { type: 'string', choices: ['list', 'download', 'load'], demandOption: true, describe: 'Action' },
  ids: { type: 'number', array: true, describe: 'Ids of archives, as listed by archives list; default: all' },
} as const
export const flags = {
  ...DATABASE_FLAG,
  ...SERVICE_FLAGS,
  kind: { type: 'string', default: 'all', describe: 'Choose the kind: archive, archive_json' },
  name: { type: 'string', describe: 'Limit to archives with this name' },
  ...RANGE_FLAGS,
  output: { type: 'string', defaultDescription: 'archives/ beside the database', describe: 'Set the target folder' },
  limit: { ...LIMIT_FLAG.limit, default: 100 },
  refresh: { type: 'boolean', default: false, describe: 'Download or load existing files again' },
  'allow-host': {
    type: 'string',
    array: true,
    nargs: 1,
    describe: 'Follow links to this host, even private (without key)',
  },
  job: { type: 'string', describe: 'Use pace and call budget of this job file' },
  ...JSON_FLAG,
} as const
export const examples = [
  'archives list --database data/demo.db',
  'archives download 34 --from 2025-11-01',
  'archives load --name C2_liquicomun',
]

type ArchivesArgs = Args<typeof flags, typeof positionals>

/** Resolves `--from` and `--to` to days in a time zone. */
function requestedDays(args: ArchivesArgs, zone: string): { from: string | null; to: string | null } {
  const range = resolveRange(args, zone, toInstant(Date.now()))
  const day = (flag: 'from' | 'to') => (range && args[flag] !== undefined ? localDate(zone, range[flag]) : null)
  return { from: day('from'), to: day('to') }
}

/** Finds the selected editions, the latest first. Refuses kinds, ids and names that do not exist. */
async function selectEditions(db: Reader, settings: CommandSettings, args: ArchivesArgs): Promise<Edition[]> {
  const { kind, ids = [], name } = args
  const service = settings.service.value
  const kinds = ['all', ...(await readArchiveKinds(db, service))]
  if (!kinds.includes(kind))
    throw new InputError(
      `--kind ${JSON.stringify(kind)} is not valid; expected one of: ${kinds.join(', ')}.${didYouMean(kind, kinds)}`,
      { code: 'usage' },
    )
  await refuseUnknownArchives(db, { ids, name })
  const { from, to } = requestedDays(args, service.timeZone)
  return findEditions(db, { kind: kind === 'all' ? null : kind, ids, name, from, to })
}

function printEditions(editions: readonly Edition[], args: ArchivesArgs): void {
  const shown = args.limit > 0 ? editions.slice(0, args.limit) : editions
  const rows = shown.map(({ id, kind, name, date, bytes, path }) => [
    id,
    kind,
    name,
    date,
    bytes,
    path?.slice(0, 15) ?? '',
  ])
  printResult(
    args,
    shown,
    shown.length === 0
      ? 'No matching editions are stored. Add archives: [{ window: { last: 31d } }] to a job to fetch them.'
      : tableText({ columns: ['id', 'kind', 'name', 'date', 'bytes', 'file'], rows }),
  )
  warnOfLimit(args, shown.length, editions.length)
}

const archiveFolder = (database: string, { output }: ArchivesArgs): string =>
  output ?? join(databaseFolder(database) ?? 'data', 'archives')

/** `archives download`: fetches the files of editions, one after the other, and names them by their checksums. */
async function downloadFiles(settings: CommandSettings, args: ArchivesArgs): Promise<number> {
  const access = requireService(settings)
  const { service } = access
  const database = settings.database.value
  requestedDays(args, service.timeZone)
  const [job] = args.job === undefined ? [] : readJobs([args.job], service)
  const { pace } = job ?? normalizeJob({ name: 'archives', series: [] }, service)
  const emit = createEmitter(eventsTo(logFor(args, [access.key])), { command: 'archives download' })
  const folder = archiveFolder(database, args)
  return withWriter(database, 'archives download', async (store) => {
    const signals = watchSignals((fields) => emit('signal.received', fields))
    const { signal } = signals
    const client = await openClient(access, {
      store,
      pace: { ...pace, concurrency: 1 },
      nowMs: Date.now,
      signal,
      emit,
    })
    try {
      const editions = await selectEditions(store, settings, args)
      const { earlyEnd, ...summary } = await downloadEditions(store, editions, {
        client,
        folder,
        allowHosts: args.allowHost ?? [],
        limit: args.limit,
        isRefresh: args.refresh,
        checkKey: () => requireGoodKey(client, service),
        emit,
      })
      const { files, bytes, stored, failed } = summary
      printResult(
        args,
        { folder, ...summary, stop: earlyEnd?.message ?? null },
        `Downloaded ${quantity(files, 'file')} (${quantity(bytes, 'byte')}) to ${folder}; ${grouped(stored)} already existed.`,
      )
      if (earlyEnd && !args.json) emit('command.failed', failedFields(earlyEnd))
      const code = failed.length > 0 ? EXIT.partial : EXIT.done
      return signals.code() ?? (earlyEnd ? exitCodeFor(earlyEnd) : code)
    } finally {
      signals.release()
      await client.close()
    }
  })
}

/** `archives load`: loads the rows of downloaded files with a known layout into tables. */
async function loadFiles(settings: CommandSettings, args: ArchivesArgs): Promise<number> {
  const database = settings.database.value
  const folder = archiveFolder(database, args)
  // Refuses a database that does not exist: a writer would create it.
  await openReader(database).close()
  return withWriter(database, 'archives load', async (store) => {
    const editions = await selectEditions(store, settings, args)
    const { timeZone } = settings.service.value
    const summary = await loadEditions(store, editions, { folder, timeZone, isRefresh: args.refresh })
    printResult(args, summary, loadText(summary))
    return summary.failed.length > 0 ? EXIT.partial : EXIT.done
  })
}

/** Listed files of each kind. */
const MAX_LISTED = 10

/** The first lines of a list. */
const listLines = (lines: readonly string[]): string[] => [
  ...lines.slice(0, MAX_LISTED).map((line) => `- ${oneLine(line)}`),
  ...(lines.length > MAX_LISTED ? ['- … (--json lists all)'] : []),
]

const failureText = ({ file, line, reason }: LoadFailure): string =>
  `${file}${line === null ? '' : `, line ${line}`}: ${reason}`

const loadText = ({ rows, files, stored, missing, unknown, sheets, failed }: LoadSummary): string =>
  [
    `Loaded ${quantity(rows, 'row')} of ${quantity(files, 'file')}; ${quantity(stored, 'edition')} already loaded.`,
    ...(unknown.length > 0 ? [`${quantity(unknown.length, 'file')} without a known layout, which stay files:`] : []),
    ...listLines(unknown),
    ...(sheets.length > 0
      ? [`${quantity(sheets.length, 'sheet')} not understood, whose cells are in archive_row:`]
      : []),
    ...listLines(sheets),
    ...(missing > 0
      ? [`${quantity(missing, 'edition')} not downloaded; \`indicator-sync archives download\` fetches them.`]
      : []),
    ...(failed.length > 0 ? [`Cannot load ${quantity(failed.length, 'file')}:`] : []),
    ...listLines(failed.map(failureText)),
  ].join('\n')

export async function handler(args: ArchivesArgs): Promise<number> {
  const settings = readSettings(args)
  if (args.action === 'download') return downloadFiles(settings, args)
  if (args.action === 'load') return loadFiles(settings, args)
  return withReader(settings.database.value, async (reader) => {
    printEditions(await selectEditions(reader, settings, args), args)
    return EXIT.done
  })
}
