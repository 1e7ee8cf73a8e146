import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseDatabase } from '../../db/address.ts'
import { openWriter } from '../../db/lock.ts'
import { openReader } from '../../db/open.ts'
import { storedKinds } from '../../db/queries/catalogueNames.ts'
import type { Reader, Store } from '../../db/store.ts'
import { type OnRetry, openClient } from '../../fetch/client.ts'
import { type DownloadOptions, download } from '../../fetch/files/download.ts'
import { tidyParts } from '../../fetch/files/partialFiles.ts'
import { recordPause } from '../../fetch/hosts.ts'
import { openPacer } from '../../fetch/pacer.ts'
import { normalizeJob } from '../../job/normalize.ts'
import { recordFile } from '../../load/archiveFiles.ts'
import { replaceArchiveRows } from '../../load/archiveRows.ts'
import { listSecrets, refuseExposed } from '../../service/key.ts'
import { itemKind, routesOf } from '../../service/routes.ts'
import type { Service } from '../../service/service.ts'
import { readArchive } from '../../transform/archiveRows.ts'
import { didYouMean } from '../../util/didYouMean.ts'
import { InputError, StoppedError, SyncError } from '../../util/errors.ts'
import { createEmitter, type EmitEvent } from '../../util/events.ts'
import { eventsTo } from '../../util/log.ts'
import { version } from '../../util/package.ts'
import { grouped, oneLine, quantity } from '../../util/text.ts'
import { localDate } from '../../util/time/zone.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG, LIMIT_FLAG, RANGE_FLAGS, SERVICE_FLAGS } from '../flags.ts'
import { readJobs } from '../jobs/jobs.ts'
import { readSettings, requireService } from '../settings/config.ts'
import { EXIT, exitCodeFor, failedFields } from '../terminal/fail.ts'
import { logFor } from '../terminal/logging.ts'
import { print } from '../terminal/output.ts'
import { watchSignals } from '../terminal/signals.ts'
import { tableText } from '../terminal/table.ts'
import { rangeOfFlags } from '../times.ts'

export const positionals = {
  action: { type: 'string', choices: ['list', 'download', 'load'], demandOption: true, describe: 'Action' },
  ids: { type: 'number', array: true, describe: 'Ids of archives; default: all' },
} as const
export const flags = {
  ...DATABASE_FLAG,
  ...SERVICE_FLAGS,
  kind: { type: 'string', default: 'all', describe: 'Choose the kind: archive, archive_json' },
  name: { type: 'string', describe: 'Limit to archives with this name' },
  ...RANGE_FLAGS,
  output: { type: 'string', defaultDescription: 'archives/ beside the database', describe: 'Set the target directory' },
  limit: { ...LIMIT_FLAG.limit, default: 100 },
  refresh: { type: 'boolean', default: false, describe: 'Download or load existing files again' },
  'allow-host': {
    type: 'string',
    array: true,
    nargs: 1,
    describe: 'Follow links to this host too (never sends the key)',
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
type RangeArgs = Pick<ArchivesArgs, 'from' | 'to'>

/** No downloaded file is larger. */
const MAX_BYTES = 100_000_000
interface Edition {
  readonly kind: string
  readonly id: number
  readonly name: string | null
  readonly date: string
  readonly url: string | null
  readonly path: string | null
  readonly bytes: number | null
  readonly sha256: string | null
}

/** The days that `--from` and `--to` mean, in the zone of the service. */
function requestedDates(range: RangeArgs, zone: string): { from: string | null; to: string | null } {
  const wanted = rangeOfFlags(range, zone, Math.floor(Date.now() / 1000))
  const day = (flag: 'from' | 'to') => (wanted && range[flag] !== undefined ? localDate(zone, wanted[flag]) : null)
  return { from: day('from'), to: day('to') }
}

/** Refuses a kind of archives that neither the service declares nor the database holds. */
async function checkKind(db: Reader, kind: string, { routes }: Service): Promise<void> {
  const declared = routesOf(routes, 'archives').map((name) => itemKind(routes, name))
  const legal = [...new Set(['all', ...declared, ...(await storedKinds(db, 'archive'))])]
  if (!legal.includes(kind))
    throw new InputError(
      `--kind ${JSON.stringify(kind)} is not valid; expected one of: ${legal.join(', ')}.${didYouMean(kind, legal)}`,
      {
        code: 'usage',
      },
    )
}

/** Refuses a name that no stored archive has. */
async function checkName({ kysely }: Reader, name: string): Promise<void> {
  const names = (await kysely.selectFrom('archive_publications').select('name').distinct().execute()).map(
    (row) => row.name ?? '',
  )
  if (names.includes(name)) return
  throw new InputError(`No stored archive is named ${JSON.stringify(name)}.${didYouMean(name, names)}`, {
    hint: 'List the stored ones: indicator-sync archives list',
    code: 'unknown-archive',
  })
}

/** The selected editions, the latest first. */
async function editions(db: Reader, args: ArchivesArgs): Promise<Edition[]> {
  const { kysely } = db
  const { kind, ids = [] } = args
  const service = readSettings(args).service.value
  await checkKind(db, kind, service)
  if (args.name !== undefined) await checkName(db, args.name)
  const days = requestedDates(args, service.timeZone)
  return kysely
    .selectFrom('archive_publications')
    .select(['kind', 'id', 'name', 'date', 'url', 'path', 'bytes', 'sha256'])
    .$if(kind !== 'all', (of) => of.where('kind', '=', kind))
    .$if(args.name !== undefined, (of) => of.where('name', '=', args.name!))
    .$if(ids.length > 0, (of) => of.where('id', 'in', ids))
    .$if(days.from !== null, (of) => of.where('date', '>=', days.from!))
    .$if(days.to !== null, (of) => of.where('date', '<', days.to!))
    .orderBy('date', 'desc')
    .orderBy('kind')
    .orderBy('id')
    .execute()
}

function listEditions(found: readonly Edition[], { json, limit }: ArchivesArgs): void {
  const shown = limit > 0 ? found.slice(0, limit) : found
  const rows = shown.map((one) => [one.id, one.kind, one.name, one.date, one.bytes, one.path?.slice(0, 15) ?? ''])
  if (json) print(JSON.stringify(shown, null, 2))
  else if (shown.length === 0)
    print('No matching editions are stored. Add archives: [{ window: { last: 31d } }] to a job to fetch them.')
  else print(tableText({ columns: ['id', 'kind', 'name', 'date', 'bytes', 'file'], rows }))
  if (shown.length < found.length)
    process.stderr.write(`Showing the first ${limit} of ${grouped(found.length)}. Use --limit 0 to show all.\n`)
}

interface DownloadSummary {
  files: number
  bytes: number
  stored: number
  failed: { url: string; reason: string }[]
  stop: SyncError | null
}

/** Downloads the files that are missing, each address once. */
async function fetchAll(
  store: Store,
  found: readonly Edition[],
  args: ArchivesArgs,
  options: DownloadOptions,
  emit: EmitEvent,
): Promise<DownloadSummary> {
  const done: DownloadSummary = { files: 0, bytes: 0, stored: 0, failed: [], stop: null }
  const urls = new Map(found.flatMap(({ url, path }) => (url === null ? [] : [[url, path]])))
  const fresh = [...urls].filter(([, path]) => args.refresh || path === null || !existsSync(join(options.folder, path)))
  done.stored = urls.size - fresh.length
  const wanted = (args.limit > 0 ? fresh.slice(0, args.limit) : fresh).map(([url]) => url)
  tidyParts(options.folder, wanted)
  for (const url of wanted) {
    const began = performance.now()
    const onRetry: OnRetry = ({ error, response }, attempt) =>
      emit('request.retried', {
        command: 'archives download',
        route: 'download',
        url,
        attempt,
        status: response?.status ?? null,
        code: error.code,
        reason: error.message,
      })
    try {
      const file = await download(url, { ...options, keyIsGood: done.files > 0, onRetry })
      if (file instanceof SyncError) {
        const { message: reason, code } = file
        done.failed.push({ url, reason })
        emit('download.failed', { url, code, reason })
        continue
      }
      await recordFile(store, { url, ...file }, Date.now())
      done.files++
      done.bytes += file.bytes
      emit('download.done', { url, ms: Math.round(performance.now() - began), bytes: file.bytes })
    } catch (error) {
      if (!(error instanceof StoppedError)) throw error
      done.stop = error
      break
    }
  }
  return done
}

/** `archives download`: the files of editions, beside the database, under the names of their checksums. */
async function fetchFiles(args: ArchivesArgs): Promise<number> {
  const settings = readSettings(args)
  const reached = requireService(settings)
  const { baseUrl, key, service } = reached
  const file = settings.database.value
  requestedDates(args, service.timeZone)
  const [like] = args.job === undefined ? [] : readJobs([args.job], service)
  // One after the other, at the pace and within the budget of a job where one is given.
  const { pace } = like ?? normalizeJob({ name: 'archives', series: [] }, service)
  refuseExposed(reached)
  const log = logFor(args, listSecrets(key))
  const folder = args.output ?? join(parseDatabase(file).folder ?? 'data', 'archives')
  const store = await openWriter(file, 'archives download')
  const emit = createEmitter(eventsTo(log))
  const signals = watchSignals((fields) => emit('signal.received', fields))
  const { signal } = signals
  const onPause = (ms: number, reason: string): void =>
    emit('calls.paused', { command: 'archives download', wait_ms: Math.round(ms), reason })
  const pacer = await openPacer({ store, service, baseUrl, now: Date.now, signal, onPause, emit }, pace)
  const client = openClient({
    ...reached,
    version: version(),
    pacer,
    concurrency: 1,
    signal,
    onPause,
    onWait: (ms, host, isOutage) => void recordPause(store, host, { ms, isOutage }, Date.now()).catch(() => undefined),
  })
  try {
    const options = { client, folder, maxBytes: MAX_BYTES, allowHosts: args.allowHost ?? [] }
    const { stop, ...done } = await fetchAll(store, await editions(store, args), args, options, emit)
    if (args.json) print(JSON.stringify({ folder, ...done, stop: stop?.message ?? null }, null, 2))
    else {
      print(
        `Downloaded ${quantity(done.files, 'file')} (${quantity(done.bytes, 'byte')}) to ${folder}; ${grouped(done.stored)} already existed.`,
      )
      if (stop) emit('command.failed', failedFields(stop))
    }
    return signals.code() ?? (stop ? exitCodeFor(stop) : done.failed.length > 0 ? EXIT.partial : EXIT.done)
  } finally {
    signals.release()
    pacer.close?.()
    await client.close()
    await store.close()
  }
}

interface LoadSummary {
  rows: number
  files: number
  /** Editions whose rows were loaded already. */
  stored: number
  /** Editions without a downloaded file. */
  missing: number
  /** Files that stay files. */
  unknown: string[]
  failed: { file: string; reason: string }[]
}

/** The editions to load, each once, and each file once: a JSON archive has one file for all days, which is that of the latest. */
async function loadable(store: Store, found: readonly Edition[], args: ArchivesArgs, done: LoadSummary) {
  const loaded = await store.kysely.selectFrom('archive_file').select(['url', 'loaded_sha256']).execute()
  const versions = new Map(loaded.map((file) => [file.url, file.loaded_sha256]))
  const seen = new Set<string | null>()
  const isNew = (key: string | null): boolean => !seen.has(key) && Boolean(seen.add(key))
  const present = found.filter(
    ({ kind, id, date, url, path }) => path !== null && isNew(url) && isNew(`${kind} ${id} ${date}`),
  )
  done.missing = found.filter(({ kind, id, date, path }) => path === null && isNew(`${kind} ${id} ${date}`)).length
  const fresh = present.filter(({ url, sha256 }) => args.refresh || versions.get(url!) !== sha256)
  done.stored = present.length - fresh.length
  return fresh
}

/** `archives load`: the rows of downloaded files with a known layout, in `archive_row`. */
async function loadFiles(args: ArchivesArgs): Promise<number> {
  const file = readSettings(args).database.value
  const folder = args.output ?? join(parseDatabase(file).folder ?? 'data', 'archives')
  const done: LoadSummary = { rows: 0, files: 0, stored: 0, missing: 0, unknown: [], failed: [] }
  await openReader(file).close()
  const store = await openWriter(file, 'archives load')
  try {
    for (const { kind, id, name, date, url, sha256, path } of await loadable(
      store,
      await editions(store, args),
      args,
      done,
    )) {
      const edition = `${name ?? id} ${date}`
      let unknown: string[] = []
      let files = 0
      try {
        const bytes = readFileSync(join(folder, path!))
        // Read again if the transaction is repeated.
        function* rows() {
          ;[unknown, files] = [[], 0]
          for (const one of readArchive(name ?? String(id), bytes)) {
            if (one.rows === null) unknown.push(`${edition}: ${one.file}`)
            else files++
            yield* one.rows ?? []
          }
        }
        done.rows += await replaceArchiveRows(store, { kind, id, date, url: url!, sha256: sha256! }, rows)
        done.files += files
        done.unknown.push(...unknown)
      } catch (error) {
        if (error instanceof SyncError) throw error
        done.failed.push({ file: edition, reason: error instanceof Error ? error.message : String(error) })
      }
    }
    print(args.json ? JSON.stringify(done, null, 2) : loadedText(done))
    return done.failed.length > 0 ? EXIT.partial : EXIT.done
  } finally {
    await store.close()
  }
}

const UNKNOWN_SHOWN = 10

const loadedText = ({ rows, files, stored, missing, unknown, failed }: LoadSummary): string =>
  [
    `Loaded ${quantity(rows, 'row')} of ${quantity(files, 'file')}; ${quantity(stored, 'edition')} already loaded.`,
    ...(unknown.length > 0 ? [`${quantity(unknown.length, 'file')} without a known layout, which stay files:`] : []),
    ...unknown.slice(0, UNKNOWN_SHOWN).map((one) => `- ${oneLine(one)}`),
    ...(unknown.length > UNKNOWN_SHOWN ? ['- … (--json lists all)'] : []),
    ...(missing > 0
      ? [`${quantity(missing, 'edition')} not downloaded; \`indicator-sync archives download\` fetches them.`]
      : []),
    ...failed.map(({ file, reason }) => `Cannot read ${oneLine(file)}: ${oneLine(reason)}.`),
  ].join('\n')

export async function handler(args: ArchivesArgs): Promise<number> {
  if (args.action === 'download') return fetchFiles(args)
  if (args.action === 'load') return loadFiles(args)
  const reader = openReader(readSettings(args).database.value)
  try {
    listEditions(await editions(reader, args), args)
    return EXIT.done
  } finally {
    await reader.close()
  }
}
