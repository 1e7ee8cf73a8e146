import { existsSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { BusyError, StoreError } from '../base/errors.ts'
import { formatLocal, transitions } from '../base/zone.ts'
import { openReader } from '../db/open.ts'
import { SCHEMA_VERSION, schemaState } from '../db/schema.ts'
import { asStoreError } from '../db/sqlite.ts'
import { logBytes } from '../db/wal.ts'
import { readSettings, type Settings } from './config.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs, ServiceArgs } from './flags.ts'
import { grouped, print } from './output.ts'

interface Finding {
  readonly what: string
  readonly good: boolean
  readonly says: string
}

const good = (what: string, says: string): Finding => ({ what, good: true, says })
const bad = (what: string, says: string): Finding => ({ what, good: false, says })
/** Above this the log is not folded back any more, since somebody reads in it. */
const MUCH_LOG = 512 * 1024 * 1024
/** The library's own view of 2025: the zone data knows the last clock change of Spain. */
const LAST_CHANGE_2025 = 1_761_440_400

function configuration({ service, baseUrl, key, database }: Settings): Finding[] {
  return [
    good('service', `${service.value.name} (from ${service.from})`),
    baseUrl
      ? good('base address', `${baseUrl.value} (from ${baseUrl.from})`)
      : bad('base address', 'not set: INDICATOR_SYNC_BASE_URL, --base-url or --service esios'),
    !key
      ? bad('key', 'not set: INDICATOR_SYNC_API_KEY or --api-key-file')
      : /^"?[0-9a-f]{64}"?$/.test(key.value)
        ? good('key', `set (from ${key.from}); never shown`)
        : good('key', `set (from ${key.from}), but not the 64 hexadecimal characters that issued keys have`),
    good('database', `${database.value} (from ${database.from})`),
  ]
}

function machine(file: string): Finding[] {
  const folder = [dirname(resolve(file)), process.cwd()].find(existsSync) ?? '.'
  const { bavail, bsize } = statfsSync(folder)
  const free = Math.floor((bavail * bsize) / 1024 / 1024)
  const zoneKnown = transitions('Europe/Madrid').some(({ at }) => at === LAST_CHANGE_2025)
  const now = Math.floor(Date.now() / 1000)
  return [
    good('runtime', `Node ${process.versions.node}`),
    (zoneKnown ? good : bad)(
      'zone data',
      zoneKnown
        ? `knows Europe/Madrid (${process.versions.tz ?? 'built in'})`
        : 'does not know the clock changes of Europe/Madrid',
    ),
    (now > 1_735_689_600 ? good : bad)('clock', `${formatLocal('Europe/Madrid', now)} in Madrid`),
    (free > 500 ? good : bad)('disk', `${grouped(free)} MiB free in ${folder}`),
  ]
}

function health(file: string): Finding[] {
  const state = schemaState(file)
  if (!state.exists) return [good('schema', 'no database yet; the first sync makes it')]
  if (state.version < SCHEMA_VERSION)
    return [good('schema', `${state.version} of ${SCHEMA_VERSION}; the next sync or \`migrate\` brings it up to date`)]
  const reader = openReader(file)
  try {
    const integrity = reader.raw.pragma('integrity_check(1)', { simple: true }) as string
    const dangling = (reader.raw.pragma('foreign_key_check') as unknown[]).length
    const lock = reader.all('select pid, host, command, acquired_at from _lock') as {
      pid: number
      host: string
      command: string
      acquired_at: string
    }[]
    const log = logBytes(file)
    return [
      good('schema', `${state.version} of ${SCHEMA_VERSION}`),
      (integrity === 'ok' ? good : bad)('integrity', integrity),
      (dangling === 0 ? good : bad)('references', dangling === 0 ? 'all whole' : `${dangling} rows point nowhere`),
      (log < MUCH_LOG ? good : bad)(
        'log',
        log < MUCH_LOG
          ? `${grouped(log)} bytes of write-ahead log`
          : `${grouped(log)} bytes of write-ahead log: a reader has been open for long; close it`,
      ),
      good(
        'write lock',
        lock[0]
          ? `held by process ${lock[0].pid} on ${lock[0].host} since ${lock[0].acquired_at} (${lock[0].command})`
          : 'free',
      ),
    ]
  } finally {
    reader.raw.close()
  }
}

/** The health of the file; a file too damaged to be read is a finding like any other. */
function healthOf(file: string): Finding[] {
  try {
    return health(file)
  } catch (thrown) {
    const error = asStoreError(thrown, file)
    if (!(error instanceof StoreError || error instanceof BusyError)) throw error
    return [bad('database', `${error.message} ${error.hint ?? ''}`.trimEnd())]
  }
}

export async function run(args: CommonArgs & ServiceArgs & { readonly json: boolean }): Promise<number> {
  const settings = readSettings(args)
  const file = settings.database.value
  const findings = [...configuration(settings), ...machine(file), ...healthOf(file)]
  print(
    args.json
      ? JSON.stringify(findings, null, 2)
      : findings.map(({ what, good, says }) => `${good ? 'ok  ' : 'FIX '} ${what.padEnd(13)} ${says}`).join('\n'),
  )
  return findings.every(({ good }) => good) ? EXIT.done : EXIT.check
}
