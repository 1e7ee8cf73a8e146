import { existsSync, statfsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { databaseFolder, isAddress } from '../../db/address.ts'
import { type LockHolder, readHolder } from '../../db/holder.ts'
import { isLocked } from '../../db/lock.ts'
import { readSchemaState } from '../../db/open.ts'
import { findProxy } from '../../fetch/proxies.ts'
import { findFindings } from '../../findings/findFindings.ts'
import { expectedForm, isExposed, keyFault } from '../../service/key.ts'
import type { Service } from '../../service/service.ts'
import { LIVE } from '../../service/services.ts'
import { BusyError, InputError, StoreError } from '../../util/errors.ts'
import { isLoopback } from '../../util/host.ts'
import { grouped, quantity } from '../../util/text.ts'
import { formatUtc, toInstant } from '../../util/time/instant.ts'
import { formatLocal, transitions } from '../../util/time/zone.ts'
import type { Args } from '../command.ts'
import { type Diagnosis, diagnoseService, fail, pass, warn } from '../diagnosis.ts'
import { DATABASE_FLAG, JSON_FLAG, SERVICE_FLAGS } from '../flags.ts'
import { type CommandSettings, readSettings } from '../settings/config.ts'
import { withReader } from '../settings/databases.ts'
import { EXIT } from '../terminal/fail.ts'
import { printResult } from '../terminal/output.ts'

export const flags = {
  ...DATABASE_FLAG,
  ...SERVICE_FLAGS,
  online: { type: 'boolean', default: false, describe: 'Call the service once to test key and clock' },
  ...JSON_FLAG,
} as const
export const examples = ['doctor --database data/demo.db', 'doctor --online --service esios']

function statusWord({ good, warns }: Diagnosis): string {
  if (!good) return 'FIX '
  return warns ? 'WARN' : 'ok  '
}

/** The beginning of 2025 in epoch seconds: a clock that shows an earlier time is wrong. */
const EARLIEST_NOW = 1_735_689_600
/** Free space of the disk with the database. */
const MIN_FREE_MIB = 500
/** Bytes. A larger write-ahead log shows that a reader prevents checkpoints. */
const MAX_LOG_BYTES = 512 * 1024 * 1024

/** Checks whether the key would be sent unencrypted to another machine. */
function diagnoseEncryption({ baseUrl, allowHttp }: CommandSettings): Diagnosis[] {
  if (!baseUrl || !isExposed(baseUrl.value)) return []
  const risk = `anyone on the network path to ${baseUrl.value} can read the key`
  return [
    allowHttp.value
      ? warn('encryption', `none, as ${allowHttp.from} allows: ${risk}`)
      : fail(
          'encryption',
          'none: anyone on the network path could read the key; use https://, or INDICATOR_SYNC_ALLOW_HTTP=1 in a trusted network',
        ),
  ]
}

/** Names the proxy of the service, without its password; nothing if no proxy is set. */
function diagnoseProxy({ baseUrl, proxies }: CommandSettings): Diagnosis[] {
  if (!baseUrl) return []
  const url = new URL(baseUrl.value)
  const setting = url.protocol === 'https:' ? proxies.https : proxies.http
  if (!setting) return []
  try {
    const proxy = findProxy(url, proxies)
    if (proxy) return [pass('proxy', `${proxy.origin} (${proxy.from})`)]
    const reason = isLoopback(url) ? 'is on this machine' : `is excepted (${proxies.exceptions?.from})`
    return [pass('proxy', `none: ${url.host} ${reason}`)]
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    return [fail('proxy', `${error.message} ${error.hint}`)]
  }
}

/** Checks whether other users of this machine can read the key in `.env`. */
function diagnoseEnvFile(): Diagnosis[] {
  const file = statSync('.env', { throwIfNoEntry: false })
  // Windows has no such permissions.
  if (!file?.isFile() || process.platform === 'win32') return []
  const mode = file.mode & 0o777
  if ((mode & 0o077) === 0) return [pass('.env', 'readable only by its owner')]
  return [warn('.env', `other users can access it (mode ${mode.toString(8).padStart(3, '0')}): chmod 600 .env`)]
}

function diagnoseKey({ key, service }: CommandSettings): Diagnosis {
  if (!key) return fail('key', 'not set: INDICATOR_SYNC_API_KEY or --api-key-file')
  const fault = keyFault(key.value)
  if (fault) return fail('key', `${fault} (${key.from})`)
  const issued = expectedForm(service.value.apiKey, key.value)
  if (issued) return warn('key', `set (${key.from}), but does not look like an issued key (${issued})`)
  return pass('key', `set (${key.from}); never shown`)
}

const diagnoseSettings = (settings: CommandSettings): Diagnosis[] => {
  const { service, baseUrl, database } = settings
  return [
    pass('service', `${service.value.name} (${service.from})`),
    baseUrl
      ? pass('base URL', `${baseUrl.value} (${baseUrl.from})`)
      : fail('base URL', `not set: INDICATOR_SYNC_BASE_URL, --base-url or --service ${LIVE}`),
    ...diagnoseEncryption(settings),
    ...diagnoseProxy(settings),
    ...diagnoseEnvFile(),
    diagnoseKey(settings),
    pass('database', `${database.value} (${database.from})`),
  ]
}

function diagnoseMachine(file: string, { timeZone }: Service): Diagnosis[] {
  const year = String(new Date().getUTCFullYear())
  const changes = transitions(timeZone).filter(({ at }) => formatUtc(at).startsWith(year)).length
  const now = toInstant(Date.now())
  const local = `${formatLocal(timeZone, now)} in ${timeZone.split('/').at(-1)!.replaceAll('_', ' ')}`
  const folder = [resolve(databaseFolder(file) ?? '.'), process.cwd()].find(existsSync) ?? '.'
  const { bavail, bsize } = statfsSync(folder)
  const freeMib = Math.floor((bavail * bsize) / 1024 / 1024)
  return [
    pass('runtime', `Node ${process.versions.node}`),
    pass(
      'time zones',
      `${process.versions.tz ?? 'built in'}; ${timeZone} has ${quantity(changes, 'clock change')} in ${year}`,
    ),
    now > EARLIEST_NOW ? pass('clock', local) : fail('clock', `the clock is wrong: ${local}`),
    freeMib >= MIN_FREE_MIB
      ? pass('disk', `${grouped(freeMib)} MiB free in ${folder}`)
      : fail('disk', `only ${grouped(freeMib)} MiB free in ${folder}; at least ${MIN_FREE_MIB} MiB recommended`),
  ]
}

/** Describes the write lock. The name of a killed writer stays until the next one starts. */
async function describeLock(file: string, holder: LockHolder | undefined): Promise<string> {
  const locked = await isLocked(file)
  const writer = holder && `process ${holder.pid} on ${holder.host} since ${holder.acquired_at} (${holder.command})`
  if (locked === undefined) return "cannot be checked with this user's permissions"
  if (locked) return `in use by ${writer ?? 'another process'}`
  return writer ? `free; the last writer (${writer}) did not shut down cleanly` : 'free'
}

async function diagnoseDatabase(file: string): Promise<Diagnosis[]> {
  const { exists, version, known } = await readSchemaState(file)
  if (!exists) return [pass('schema', 'no database yet; the first sync creates it')]
  if (version < known)
    return [fail('schema', `schema ${version} is outdated (current: ${known}); run \`indicator-sync migrate\``)]
  return withReader(file, async (reader) => {
    const integrity = await reader.engine.checkIntegrity()
    const dangling = (await reader.engine.findDanglingRows()).length
    const logBytes = await reader.engine.measureLog()
    const log = quantity(logBytes, 'byte')
    const findings = await findFindings(reader, toInstant(Date.now()), { depth: 'state' })
    const missed = findings.filter(({ kind }) => kind === 'no run' || kind === 'never run')
    return [
      pass('schema', `version ${version} (current)`),
      integrity.isSound ? pass('integrity', integrity.detail) : fail('integrity', integrity.detail),
      dangling === 0
        ? pass('references', 'complete')
        : fail('references', `${quantity(dangling, 'row refers', 'rows refer')} to missing rows`),
      ...(isAddress(file)
        ? []
        : [
            logBytes < MAX_LOG_BYTES
              ? pass('WAL', log)
              : fail('WAL', `${log}: a long-running reader prevents checkpoints; close it`),
          ]),
      pass('write lock', await describeLock(file, await readHolder(reader.kysely))),
      ...missed.map(({ message }) => fail('runs', message)),
      ...(missed.length === 0 ? [pass('runs', 'no scheduled run is missed')] : []),
    ]
  })
}

/** Reports a database that is too damaged to be read; throws any other error again. */
function diagnoseFailure(error: unknown): Diagnosis[] {
  if (!(error instanceof StoreError || error instanceof BusyError)) throw error
  return [fail('database', `${error.message} ${error.hint ?? ''}`.trimEnd())]
}

export async function handler(args: Args<typeof flags>): Promise<number> {
  const settings = readSettings(args)
  const file = settings.database.value
  const diagnoses = [
    ...diagnoseSettings(settings),
    ...diagnoseMachine(file, settings.service.value),
    ...(await diagnoseDatabase(file).catch(diagnoseFailure)),
    ...(args.online ? await diagnoseService(settings) : []),
  ]
  const lines = diagnoses.map((diagnosis) => `${statusWord(diagnosis)} ${diagnosis.what.padEnd(13)} ${diagnosis.says}`)
  printResult(args, diagnoses, lines.join('\n'))
  return diagnoses.every(({ good }) => good) ? EXIT.done : EXIT.check
}
