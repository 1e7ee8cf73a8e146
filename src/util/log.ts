import { createRequire } from 'node:module'
import type { LogFn, LoggerOptions, Logger as Pino } from 'pino'
import { describeEvent, eventLevel, isLogged, type OnEvent, type SyncEvent } from './events.ts'
import { redact } from './redact.ts'
import { oneLine, visible } from './text.ts'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

/** Writes lines, each at a level. */
export type Logger = Pick<Pino, (typeof LEVELS)[number]>

/** What is logged to stderr, and in which format. */
export interface LogOptions {
  readonly level: 'silent' | 'warn' | 'info' | 'debug'
  readonly format: 'pretty' | 'json'
  readonly color: boolean
  /** Texts that must never be written: each is replaced by `[secret]` wherever it occurs. */
  readonly secrets: readonly string[]
  /** Returns what is written before a line, such as the sequence that clears a progress line. */
  readonly before?: () => string
}

/** A value without invisible characters, at any depth. */
const onlyVisible = (value: unknown): unknown => {
  if (typeof value === 'string') return visible(value)
  if (typeof value !== 'object' || value === null || value instanceof Error) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, onlyVisible(part)]))
}

/** A logger that writes to stderr, so that stdout holds results only. Pretty lines are sentences, JSON lines have the fields beside them. */
export function createLog(options: LogOptions): Logger {
  const { level, format } = options
  let pino: Pino | undefined
  const isWanted = (at: (typeof LEVELS)[number], first: unknown): boolean =>
    level !== 'silent' &&
    LEVELS.indexOf(at) >= LEVELS.indexOf(level) &&
    !(isEvent(first) && !isLogged(first.event, { pretty: format === 'pretty', level }))
  // Created with the first line, because most commands log nothing.
  const at = (name: (typeof LEVELS)[number]): LogFn => {
    return (...args: readonly unknown[]) => {
      if (!isWanted(name, args[0])) return
      pino ??= createPino(options)
      pino[name](...(args as Parameters<LogFn>))
    }
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function createPino({ level, format, color, secrets, before = () => '' }: LogOptions): Pino {
  const require = createRequire(import.meta.url)
  const { pino } = require('pino') as typeof import('pino')
  const { prettyFactory } = require('pino-pretty') as typeof import('pino-pretty')
  const pretty = prettyFactory({ colorize: color, ignore: 'pid,hostname,time', singleLine: true, hideObject: true })
  const shape = format === 'json' ? (line: string) => line : (line: string) => `${(pretty(line) ?? '').trimEnd()}\n`
  const hooks: LoggerOptions['hooks'] = {
    logMethod(args, method) {
      const [first] = args as readonly unknown[]
      // Text from the service must not forge lines or move the cursor.
      const whole = typeof first === 'string' ? [{ event: 'note' }, ...args] : args
      method.apply(this, whole.map(onlyVisible) as Parameters<LogFn>)
    },
  }
  return pino(
    { level, base: null, hooks },
    { write: (line: string) => process.stderr.write(before() + redact(shape(line), secrets)) },
  )
}

const isEvent = (value: unknown): value is SyncEvent =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'event')

/** Text from the service becomes one line, in every field of an event. */
const tidied = (event: SyncEvent): SyncEvent =>
  Object.fromEntries(
    Object.entries(event).map(([name, value]) => [name, typeof value === 'string' ? oneLine(value) : value]),
  ) as unknown as SyncEvent

/** Writes events to a log: the fields for machines, a sentence for people. */
export const eventsTo =
  (log: Logger): OnEvent =>
  (event) => {
    const clean = tidied(event)
    log[eventLevel(event)](clean, describeEvent(clean))
  }
