import { existsSync, statfsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseDatabase } from '../../db/address.ts'
import { type LockHolder, readHolder } from '../../db/holder.ts'
import { isLocked } from '../../db/lock.ts'
import { openReader, schemaState } from '../../db/open.ts'
import { missedRuns } from '../../reports/rhythm.ts'
import { isExposed, keyFault, unlikeIssued } from '../../service/key.ts'
import { LIVE, type Service } from '../../service/services.ts'
import { BusyError, StoreError } from '../../util/errors.ts'
import { grouped, quantity } from '../../util/text.ts'
import { formatUtc } from '../../util/time/instant.ts'
import { formatLocal, transitions } from '../../util/time/zone.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, JSON_FLAG, SERVICE_FLAGS } from '../flags.ts'
import { bad, type Diagnosis, good, probe, warn } from '../probe.ts'
import { readSettings, type Settings } from '../settings/config.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'

export const flags = {
  ...DATABASE_FLAG,
  ...SERVICE_FLAGS,
  online: { type: 'boolean', default: false, describe: 'Call the service once to test key and clock' },
  ...JSON_FLAG,
} as const
export const examples = ['doctor --database data/demo.db', 'doctor --online --service esios']

/** The beginning of 2025 in epoch seconds: no clock may show an earlier time. */
const EARLIEST_NOW = 1_735_689_600
/** Free space of the disk with the database. */
const ENOUGH_MIB = 500
/** Bytes. A write-ahead log above this size is not folded back, because a reader uses it. */
const MUCH_LOG = 512 * 1024 * 1024

/** Whether the key would go unencrypted to another machine. */
function exposure({ baseUrl, allowHttp }: Settings): Diagnosis[] {
  if (!baseUrl || !isExposed(baseUrl.value)) return []
  return [
    allowHttp.value
      ? warn(
          'encryption',
          `none, as ${allowHttp.from} allows: anyone on the network path to ${baseUrl.value} can read the key`,
        )
      : bad(
          'encryption',
          'none: anyone on the network path could read the key; use https://, or INDICATOR_SYNC_ALLOW_HTTP=1 in a trusted network',
        ),
  ]
}

/** Whether others on this machine can read the key in `.env`. */
function envFile(): Diagnosis[] {
  const found = statSync('.env', { throwIfNoEntry: false })
  // Windows has no such permissions.
  if (!found?.isFile() || process.platform === 'win32') return []
  const others = found.mode & 0o077
  return [
    others === 0
      ? good('.env', 'readable only by its owner')
      : warn(
          '.env',
          `other users can access it (mode ${(found.mode & 0o777).toString(8).padStart(3, '0')}): chmod 600 .env`,
        ),
  ]
}

function configuration(settings: Settings): Diagnosis[] {
  const { service, baseUrl, key, database } = settings
  const fault = key && keyFault(key.value)
  const unlike = key && unlikeIssued(service.value.apiKey, key.value)
  return [
    good('service', `${service.value.name} (${service.from})`),
    baseUrl
      ? good('base URL', `${baseUrl.value} (${baseUrl.from})`)
      : bad('base URL', `not set: INDICATOR_SYNC_BASE_URL, --base-url or --service ${LIVE}`),
    ...exposure(settings),
    ...envFile(),
    !key
      ? bad('key', 'not set: INDICATOR_SYNC_API_KEY or --api-key-file')
      : fault
        ? bad('key', `${fault} (${key.from})`)
        : unlike
          ? warn('key', `set (${key.from}), but does not look like an issued key (${unlike})`)
          : good('key', `set (${key.from}); never shown`),
    good('database', `${database.value} (${database.from})`),
  ]
}

/** What the runtime knows of a zone; an unknown zone ends the command with its name. */
function zoneData(timeZone: string): Diagnosis {
  const year = String(new Date().getUTCFullYear())
  const changes = transitions(timeZone).filter(({ at }) => formatUtc(at).startsWith(year)).length
  const version = process.versions.tz ?? 'built in'
  return good('time zones', `${version}; ${timeZone} has ${quantity(changes, 'clock change')} in ${year}`)
}

function machineHealth(file: string, { timeZone }: Service): Diagnosis[] {
  const folder = [resolve(parseDatabase(file).folder ?? '.'), process.cwd()].find(existsSync) ?? '.'
  const { bavail, bsize } = statfsSync(folder)
  const free = Math.floor((bavail * bsize) / 1024 / 1024)
  const now = Math.floor(Date.now() / 1000)
  const local = `${formatLocal(timeZone, now)} in ${timeZone.split('/').at(-1)!.replaceAll('_', ' ')}`
  return [
    good('runtime', `Node ${process.versions.node}`),
    zoneData(timeZone),
    now > EARLIEST_NOW ? good('clock', local) : bad('clock', `the clock is wrong: ${local}`),
    free >= ENOUGH_MIB
      ? good('disk', `${grouped(free)} MiB free in ${folder}`)
      : bad('disk', `only ${grouped(free)} MiB free in ${folder}; at least ${ENOUGH_MIB} MiB recommended`),
  ]
}

/** Whether there is a writer. The name of a killed one stays until the next one starts. */
async function lockState(file: string, holder: LockHolder | undefined): Promise<string> {
  const locked = await isLocked(file)
  const who = holder && `process ${holder.pid} on ${holder.host} since ${holder.acquired_at} (${holder.command})`
  if (locked === undefined) return "cannot be checked with this user's permissions"
  if (locked) return `in use by ${who ?? 'another process'}`
  return who ? `free; the last writer (${who}) did not shut down cleanly` : 'free'
}

const logState = (log: number): Diagnosis =>
  (log < MUCH_LOG ? good : bad)(
    'WAL',
    log < MUCH_LOG
      ? `${quantity(log, 'byte')}`
      : `${quantity(log, 'byte')}: a long-running reader prevents checkpoints; close it`,
  )

async function databaseHealth(file: string): Promise<Diagnosis[]> {
  const state = await schemaState(file)
  if (!state.exists) return [good('schema', 'no database yet; the first sync creates it')]
  if (state.version < state.known)
    return [
      bad('schema', `schema ${state.version} is outdated (current: ${state.known}); run \`indicator-sync migrate\``),
    ]
  const reader = openReader(file)
  try {
    const integrity = await reader.engine.integrity()
    const dangling = (await reader.engine.dangling()).length
    const log = await reader.engine.logBytes()
    const { isServed } = parseDatabase(file)
    const missed = await missedRuns(reader, Math.floor(Date.now() / 1000))
    return [
      good('schema', `version ${state.version} (current)`),
      (integrity.isSound ? good : bad)('integrity', integrity.detail),
      (dangling === 0 ? good : bad)(
        'references',
        dangling === 0 ? 'complete' : `${quantity(dangling, 'row refers', 'rows refer')} to missing rows`,
      ),
      ...(isServed ? [] : [logState(log)]),
      good('write lock', await lockState(file, await readHolder(reader.kysely))),
      ...(missed.length === 0
        ? [good('runs', 'no scheduled run is missed')]
        : missed.map(({ what }) => bad('runs', `${what}; check that cron, the timer or \`schedule\` is running`))),
    ]
  } finally {
    await reader.close()
  }
}

/** The health of the file; a file too damaged to be read is a finding like any other. */
async function checkHealth(file: string): Promise<Diagnosis[]> {
  try {
    return await databaseHealth(file)
  } catch (error) {
    if (!(error instanceof StoreError || error instanceof BusyError)) throw error
    return [bad('database', `${error.message} ${error.hint ?? ''}`.trimEnd())]
  }
}

export async function handler(args: Args<typeof flags>): Promise<number> {
  const settings = readSettings(args)
  const file = settings.database.value
  const findings = [
    ...configuration(settings),
    ...machineHealth(file, settings.service.value),
    ...(await checkHealth(file)),
    ...(args.online ? await probe(settings) : []),
  ]
  print(
    args.json
      ? JSON.stringify(findings, null, 2)
      : findings
          .map(
            ({ what, good, says, warns }) => `${good ? (warns ? 'WARN' : 'ok  ') : 'FIX '} ${what.padEnd(13)} ${says}`,
          )
          .join('\n'),
  )
  return findings.every(({ good }) => good) ? EXIT.done : EXIT.check
}
