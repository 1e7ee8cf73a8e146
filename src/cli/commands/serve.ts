import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { openReader } from '../../db/open.ts'
import { readLanguage, useStoredZones } from '../../db/queries/referenceTables.ts'
import { type RunningServer, startServer } from '../../page/pageServer.ts'
import type { Service } from '../../service/service.ts'
import { isHere } from '../../util/host.ts'
import { version } from '../../util/package.ts'
import { shellWord } from '../../util/text.ts'
import type { Args } from '../command.ts'
import { DATABASE_FLAG, DEFAULT_DATABASE } from '../flags.ts'
import { lakesOfJobs } from '../jobs/lakes.ts'
import { checkPort, listenError } from '../listening.ts'
import { called } from '../program.ts'
import { databaseSetting, serviceSetting } from '../settings/config.ts'
import { describe, EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'
import { watchSignals } from '../terminal/signals.ts'

/** The default port; if it is taken, any free one is used. */
const PORT = 8420

export const flags = {
  ...DATABASE_FLAG,
  port: { type: 'number', defaultDescription: `${PORT}, or any free port`, describe: 'Set the port' },
  host: { type: 'string', default: '127.0.0.1', describe: 'Set the address to listen on' },
  open: { type: 'boolean', default: false, describe: 'Open the page in the browser' },
} as const
export const examples = ['serve --open --database data/demo.db']
export const endsWithOutput = true

type ServeArgs = Args<typeof flags>

/** How each system opens an address. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Opens the page in the browser of this machine; where there is none, the printed address can be clicked. */
function openBrowser(url: string): void {
  const [program = 'xdg-open', ...args] = OPENERS[process.platform] ?? []
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}

/** Whether only this machine can reach an address. */
function isPrivate(host: string): boolean {
  const url = URL.parse(`http://${isIP(host) === 6 ? `[${host}]` : host}`)
  return url !== null && isHere(url)
}

/** Listens on the port; another one may replace it where the user did not choose it. */
async function listening(
  args: ServeArgs,
  file: string,
  service: Service,
  language: string | undefined,
): Promise<RunningServer> {
  const { host, port } = args
  const isOpen = !isPrivate(host)
  const where = file === DEFAULT_DATABASE ? '' : ` --database ${shellWord(file)}`
  const site = {
    file,
    version: version(),
    service,
    language,
    door: {
      names: [host.toLowerCase(), ...(isOpen ? [hostname().toLowerCase()] : [])],
      token: isOpen ? randomBytes(24).toString('base64url') : null,
    },
    now: () => Math.floor(Date.now() / 1000),
    command: (rest: string) => `${called()} ${rest}${where}`,
    lakes: lakesOfJobs,
    failed: (error: unknown) => {
      process.stderr.write(`${describe(error)}\n`)
    },
  }
  try {
    return await startServer(site, { host, port: port ?? PORT })
  } catch (error) {
    if (port === undefined && (error as NodeJS.ErrnoException).code === 'EADDRINUSE')
      return startServer(site, { host, port: 0 })
    throw error
  }
}

/** V8 keeps up to 250 MB of garbage by default, for a quarter less processor time. */
const LESS_MEMORY = ['--optimize-for-size', '--no-opt']

/** Serves the page until a signal. Never reads the key. */
export async function handler(args: ServeArgs): Promise<number> {
  for (const flag of LESS_MEMORY) setFlagsFromString(flag)
  const { host, port } = args
  if (port !== undefined) checkPort(port)
  const file = databaseSetting(args.database).value
  const service = serviceSetting().value
  // A fault of the file is reported at once, not by every page.
  const reader = openReader(file)
  const language = await useStoredZones(reader)
    .then(() => readLanguage(reader))
    .finally(() => reader.close())
  const signals = watchSignals(() => undefined)
  const running = await listening(args, file, service, language).catch((error) => {
    throw listenError(error, host, port ?? PORT)
  })
  const token = running.token === null ? '' : `?token=${running.token}`
  const url = `${running.url}/${token}`
  print(`Serving ${file} on ${url} until Ctrl-C.`)
  if (token !== '' && !args.quiet)
    process.stderr.write('Anyone with this URL can read the whole database. The connection is not encrypted.\n')
  if (args.open) openBrowser(url)
  if (!signals.signal.aborted) await once(signals.signal, 'abort')
  await running.close()
  return signals.code() ?? EXIT.done
}
