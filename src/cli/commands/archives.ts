import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFolder } from '../../db/address.ts'
import { openReader } from '../../db/open.ts'
import { readKinds } from '../../db/queries/catalogueNames.ts'
import type { Reader, Store } from '../../db/store.ts'
import { openClient } from '../../fetch/client.ts'
import { type DownloadOptions, download, prepareFolder } from '../../fetch/files/download.ts'
import { FORBIDDEN } from '../../fetch/files/links.ts'
import { normalizeJob } from '../../job/normalize.ts'
import { recordFile, replaceArchiveRows } from '../../load/archives.ts'
import { FileError } from '../../service/archiveLayouts.ts'
import { itemKind, routesOf } from '../../service/routes.ts'
import type { Service } from '../../service/service.ts'
import { readArchive } from '../../transform/readArchive.ts'
import { didYouMean } from '../../util/didYouMean.ts'
import { InputError, StoppedError, SyncError } from '../../util/errors.ts'
import { createEmitter, type EmitEvent } from '../../util/events.ts'
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

/** The maximum size of a downloaded file. */
const MAX_BYTES = 100_000_000

/** Resolves `--from` and `--to` to days in a time zone. */
function requestedDays(args: ArchivesArgs, zone: string): { from: string | null; to: string | null } {
  const range = resolveRange(args, zone, toInstant(Date.now()))
  const day = (flag: 'from' | 'to') => (range && args[flag] !== undefined ? localDate(zone, range[flag]) : null)
  return { from: day('from'), to: day('to') }
}

/** How to find the archives that exist. */
const LIST_HINT =
  'List the stored ones: indicator-sync archives list --limit 0. If there are none, add archives: [{ window: { last: 31d } }] to a job and sync it.'

/** Refuses ids and names of archives that are not stored. */
async function refuseUnknown({ kysely }: Reader, { ids = [], name }: ArchivesArgs): Promise<void> {
  const rows = await kysely.selectFrom('archive_publications').select(['id', 'name']).distinct().execute()
  const stored = new Set(rows.map(({ id }) => id))
  const unknown = ids.filter((id) => !stored.has(id))
  const refuse = (message: string): never => {
    throw new InputError(message, { hint: LIST_HINT, code: 'unknown-archive' })
  }
  if (unknown.length > 0) refuse(`No stored archive has the id ${unknown.join(', ')}.`)
  const names = [...new Set(rows.map((row) => row.name ?? ''))]
  if (name !== undefined && !names.includes(name))
    refuse(`No stored archive is named ${JSON.stringify(name)}.${didYouMean(name, names)}`)
}

/** Finds the selected editions, the latest first. Refuses kinds, ids and names that do not exist. */
async function findEditions(db: Reader, { service: { value: service } }: CommandSettings, args: ArchivesArgs) {
  const { kysely } = db
  const { kind, ids = [], name } = args
  const declared = routesOf(service.routes, 'archives').map((route) => itemKind(service.routes, route))
  const kinds = [...new Set(['all', ...declared, ...(await readKinds(db, 'archive'))])]
  if (!kinds.includes(kind))
    throw new InputError(
      `--kind ${JSON.stringify(kind)} is not valid; expected one of: ${kinds.join(', ')}.${didYouMean(kind, kinds)}`,
      { code: 'usage' },
    )
  if (ids.length > 0 || name !== undefined) await refuseUnknown(db, args)
  const { from, to } = requestedDays(args, service.timeZone)
  return kysely
    .selectFrom('archive_publications')
    .select(['kind', 'id', 'name', 'date', 'url', 'path', 'bytes', 'sha256'])
    .$if(kind !== 'all', (query) => query.where('kind', '=', kind))
    .$if(name !== undefined, (query) => query.where('name', '=', name!))
    .$if(ids.length > 0, (query) => query.where('id', 'in', ids))
    .$if(from !== null, (query) => query.where('date', '>=', from!))
    .$if(to !== null, (query) => query.where('date', '<', to!))
    .orderBy('date', 'desc')
    .orderBy('kind')
    .orderBy('id')
    .execute()
}

type Edition = Awaited<ReturnType<typeof findEditions>>[number]

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

/** Downloads missing files, each URL once. */
async function downloadEditions(
  store: Store,
  editions: readonly Edition[],
  args: ArchivesArgs,
  options: DownloadOptions,
  service: Service,
  emit: EmitEvent,
) {
  const failed: { url: string; reason: string }[] = []
  const urls = new Map(editions.flatMap(({ url, path }) => (url === null ? [] : [[url, path]])))
  const missing = [...urls].filter(
    ([, path]) => args.refresh || path === null || !existsSync(join(options.folder, path)),
  )
  const selected = (args.limit > 0 ? missing.slice(0, args.limit) : missing).map(([url]) => url)
  const summary = { files: 0, bytes: 0, stored: urls.size - missing.length, failed }
  let isKeyGood = false
  for (const url of selected) {
    const began = performance.now()
    try {
      const file = await download(url, {
        ...options,
        onRetry: ({ error: { code, message: reason }, response }, attempt) => {
          const status = response?.status ?? null
          emit('request.retried', { route: 'download', url, attempt, status, code, reason })
        },
      })
      if (file instanceof SyncError) {
        const { message: reason, code } = file
        failed.push({ url, reason })
        emit('download.failed', { url, code, reason })
        if (code === FORBIDDEN && !isKeyGood) await requireGoodKey(options.client, service)
        isKeyGood ||= code === FORBIDDEN
        continue
      }
      await recordFile(store, { url, ...file }, Date.now())
      summary.files++
      summary.bytes += file.bytes
      emit('download.done', { url, ms: Math.round(performance.now() - began), bytes: file.bytes })
    } catch (error) {
      if (error instanceof StoppedError) return { ...summary, earlyEnd: error }
      throw error
    }
  }
  return { ...summary, earlyEnd: null }
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
    const client = await openClient({
      ...access,
      store,
      pace: { ...pace, concurrency: 1 },
      nowMs: Date.now,
      signal,
      emit,
    })
    try {
      const options = { client, folder, maxBytes: MAX_BYTES, allowHosts: args.allowHost ?? [] }
      const editions = await findEditions(store, settings, args)
      await prepareFolder(folder)
      const { earlyEnd, ...summary } = await downloadEditions(store, editions, args, options, service, emit)
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

/** A file or edition that cannot be loaded, with its line if one shows the reason. */
interface LoadFailure {
  readonly file: string
  readonly line: number | null
  readonly reason: string
}

interface LoadSummary {
  rows: number
  files: number
  /** Editions whose rows were loaded before. */
  stored: number
  /** Editions that are not downloaded. */
  missing: number
  /** Files without a known layout. */
  unknown: string[]
  /** Sheets that are not understood, with the reason. Their cells are stored. */
  sheets: string[]
  failed: LoadFailure[]
}

/** Selects the editions to load, and each file once: all days of a JSON archive share the file of the latest. */
async function selectLoadable(store: Store, editions: readonly Edition[], args: ArchivesArgs, summary: LoadSummary) {
  const loaded = await store.kysely.selectFrom('archive_file').select(['url', 'loaded_sha256']).execute()
  const versions = new Map(loaded.map((file) => [file.url, file.loaded_sha256]))
  const seen = new Set<string | null>()
  const isNew = (key: string | null): boolean => !seen.has(key) && Boolean(seen.add(key))
  const isNewEdition = ({ kind, id, date }: Edition): boolean => isNew(`${kind} ${id} ${date}`)
  const present = editions.filter((edition) => edition.path !== null && isNew(edition.url) && isNewEdition(edition))
  summary.missing = editions.filter((edition) => edition.path === null && isNewEdition(edition)).length
  const fresh = present.filter(({ url, sha256 }) => args.refresh || versions.get(url!) !== sha256)
  summary.stored = present.length - fresh.length
  return fresh
}

/** Reads a downloaded file. Throws FileError if it is missing or differs from what was downloaded. */
function readDownloaded(folder: string, { path, bytes, sha256, id }: Edition): Buffer {
  const file = join(folder, path!)
  const fix = `download it again: indicator-sync archives download ${id} --refresh`
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size === undefined) throw new FileError(`${file} does not exist; ${fix}`)
  const content = size === bytes ? readFileSync(file) : null
  if (content && createHash('sha256').update(content).digest('hex') === sha256) return content
  throw new FileError(`${file} is not the downloaded file (size or SHA-256 differs); ${fix}`)
}

/** Loads the rows of an edition, and counts them. What cannot be loaded does not stop the next edition. */
async function loadEdition(
  store: Store,
  folder: string,
  edition: Edition,
  timeZone: string,
  summary: LoadSummary,
): Promise<void> {
  const { kind, id, name, date, url, sha256 } = edition
  const label = `${name ?? id} ${date}`
  try {
    const bytes = readDownloaded(folder, edition)
    const read = () => readArchive(name ?? String(id), bytes, timeZone)
    const files = await replaceArchiveRows(store, { kind, id, date, url: url!, sha256: sha256! }, read)
    const loaded = new Set<string>()
    for (const { file, sheet, count, fault, misfit } of files) {
      const part = `${label}: ${file}${sheet === undefined ? '' : `, sheet ${sheet}`}`
      if (fault) summary.failed.push({ file: part, ...fault })
      else if (count === null) summary.unknown.push(part)
      else loaded.add(file)
      if (misfit !== undefined) summary.sheets.push(`${part}: ${misfit}`)
      summary.rows += count ?? 0
    }
    summary.files += loaded.size
  } catch (error) {
    if (error instanceof SyncError) throw error
    summary.failed.push({ file: label, line: null, reason: error instanceof Error ? error.message : String(error) })
  }
}

/** `archives load`: loads the rows of downloaded files with a known layout into tables. */
async function loadFiles(settings: CommandSettings, args: ArchivesArgs): Promise<number> {
  const database = settings.database.value
  const folder = archiveFolder(database, args)
  const summary: LoadSummary = { rows: 0, files: 0, stored: 0, missing: 0, unknown: [], sheets: [], failed: [] }
  // Refuses a database that does not exist: a writer would create it.
  await openReader(database).close()
  return withWriter(database, 'archives load', async (store) => {
    const editions = await findEditions(store, settings, args)
    for (const edition of await selectLoadable(store, editions, args, summary))
      await loadEdition(store, folder, edition, settings.service.value.timeZone, summary)
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
    printEditions(await findEditions(reader, settings, args), args)
    return EXIT.done
  })
}
