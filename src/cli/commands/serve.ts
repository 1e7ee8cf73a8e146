import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { fstatSync } from 'node:fs'
import { isIP } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { readLanguage } from '../../db/queries/referenceTables.ts'
import { databaseCommand } from '../../findings/commands.ts'
import { startServer } from '../../page/pageServer.ts'
import { InputError } from '../../util/errors.ts'
import { isLoopback } from '../../util/host.ts'
import { version } from '../../util/package.ts'
import { toInstant } from '../../util/time/instant.ts'
import { type Args, withProgramName } from '../command.ts'
import { DATABASE_FLAG } from '../flags.ts'
import { checkPort, createListenError } from '../listening.ts'
import { environment, readPublicSettings } from '../settings/config.ts'
import { withReader } from '../settings/databases.ts'
import { describeError, EXIT } from '../terminal/fail.ts'
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

/** V8 keeps up to 250 MB of garbage by default, for a quarter less processor time. */
const LESS_MEMORY = ['--optimize-for-size', '--no-opt']

/** The programs that open a URL, by platform. */
const OPENERS: Readonly<Record<string, readonly string[]>> = { darwin: ['open'], win32: ['cmd', '/c', 'start', ''] }

/** Opens a URL in the browser of this machine, if there is one. */
function openBrowser(url: string): void {
  const [program = 'xdg-open', ...args] = OPENERS[process.platform] ?? []
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}

/** Whether only this machine can reach an address. */
function isPrivate(host: string): boolean {
  const url = URL.parse(`http://${isIP(host) === 6 ? `[${host}]` : host}`)
  return url !== null && isLoopback(url)
}

/**
 * True if stdout or stderr goes to the journal of systemd. The variable alone does not prove it, because programs of a desktop inherit it.
 */
function isLogged(): boolean {
  // Not a setting: systemd sets it for each process.
  const journal = process.env.JOURNAL_STREAM
  return [1, 2].some((stream) => {
    const { dev, ino } = fstatSync(stream)
    return journal === `${dev}:${ino}`
  })
}

/** The token of a server that other computers can reach: a stored one keeps copied links valid after a restart. */
function readToken(): { readonly token: string; readonly isStored: boolean } {
  const stored = environment().get('INDICATOR_SYNC_PAGE_TOKEN')
  if (stored === undefined && isLogged())
    throw new InputError('A page that other computers can reach needs a token, which the log must not contain.', {
      hint: 'Set INDICATOR_SYNC_PAGE_TOKEN, such as to the output of `openssl rand -hex 24`.',
      code: 'no-page-token',
    })
  if (stored === undefined) return { token: randomBytes(24).toString('base64url'), isStored: false }
  if (!/^[\w-]{16,200}$/.test(stored.value))
    throw new InputError(`The page token (from ${stored.from}) is not a token.`, {
      hint: 'Use 16 to 200 letters, digits, - or _, such as those printed by `openssl rand -hex 24`.',
      code: 'bad-page-token',
    })
  return { token: stored.value, isStored: true }
}

/** Serves the page until a signal. Never reads the key. */
export async function handler({ database, host, port, open, quiet }: Args<typeof flags>): Promise<number> {
  for (const flag of LESS_MEMORY) setFlagsFromString(flag)
  if (port !== undefined) checkPort(port)
  const settings = readPublicSettings({ database })
  const file = settings.database.value
  // Reports an error of the database at once, not on every page.
  const language = await withReader(file, readLanguage)
  const signals = watchSignals()
  const isOpen = !isPrivate(host)
  const access = isOpen ? readToken() : null
  const site = {
    file,
    version: version(),
    service: settings.service.value,
    language,
    door: {
      names: [host.toLowerCase()],
      token: access?.token ?? null,
    },
    now: () => toInstant(Date.now()),
    command: (words: string) => withProgramName(databaseCommand({ file }, words)),
    failed: (error: unknown) => void process.stderr.write(`${describeError(error)}\n`),
  }
  const server = await startServer(site, { host, port: port ?? PORT })
    .catch((error) => {
      // Links with a stored token name the port.
      if (port === undefined && !access?.isStored && error.code === 'EADDRINUSE')
        return startServer(site, { host, port: 0 })
      throw error
    })
    .catch((error) => {
      throw createListenError(error, host, port ?? PORT)
    })
  const token = access === null ? '' : `?token=${access.token}`
  const url = `${server.url}/${token}`
  const shown = access !== null && isLogged() ? `${server.url}/?token=…` : url
  print(`Serving ${file} on ${shown} until Ctrl-C.`)
  if (access !== null && !quiet)
    process.stderr.write(
      `Anyone with this URL can read the whole database. The connection is not encrypted.\n${access.isStored ? '' : 'Set INDICATOR_SYNC_PAGE_TOKEN to keep copied links valid after a restart.\n'}`,
    )
  if (open) openBrowser(url)
  if (!signals.signal.aborted) await once(signals.signal, 'abort')
  await server.close()
  return signals.code() ?? EXIT.done
}
