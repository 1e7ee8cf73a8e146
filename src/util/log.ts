import type { LogFn, LoggerOptions, Logger as Pino } from 'pino'
import { describeEvent, eventLevel, isLogged, type OnEvent, type SyncEvent } from './events.ts'
import { loadPackage } from './package.ts'
import { redact } from './redact.ts'
import { oneLine, visible } from './text.ts'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

/** Writes lines, each at a level. */
export type Logger = Pick<Pino, (typeof LEVELS)[number]>

/** The settings of a log. */
export interface LogOptions {
  readonly level: 'silent' | 'warn' | 'info' | 'debug'
  readonly format: 'pretty' | 'json'
  readonly isColored: boolean
  /** Texts that are replaced by `[secret]`. */
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

/**
 * A logger that writes to stderr, so that stdout holds results only. Pretty lines are sentences, JSON lines have the fields
 * beside them.
 */
export function createLog(options: LogOptions): Logger {
  const { level, format } = options
  let pino: Pino | undefined
  const isEnabled = (name: (typeof LEVELS)[number], first: unknown): boolean =>
    level !== 'silent' &&
    LEVELS.indexOf(name) >= LEVELS.indexOf(level) &&
    !(isEvent(first) && !isLogged(first.event, { isPretty: format === 'pretty', level }))
  const write =
    (name: (typeof LEVELS)[number]): LogFn =>
    (...args: readonly unknown[]) => {
      if (!isEnabled(name, args[0])) return
      // Created with the first line, because most commands log nothing.
      pino ??= createPino(options)
      pino[name](...(args as Parameters<LogFn>))
    }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

function createPino({ level, format, isColored, secrets, before = () => '' }: LogOptions): Pino {
  const { pino } = loadPackage<typeof import('pino')>('pino')
  const { prettyFactory } = loadPackage<typeof import('pino-pretty')>('pino-pretty')
  const pretty = prettyFactory({ colorize: isColored, ignore: 'pid,hostname,time', singleLine: true, hideObject: true })
  const shape = format === 'json' ? (line: string) => line : (line: string) => `${(pretty(line) ?? '').trimEnd()}\n`
  const hooks: LoggerOptions['hooks'] = {
    logMethod(args, method) {
      const [first] = args as readonly unknown[]
      // Text from the service must not forge lines or move the cursor.
      const complete = typeof first === 'string' ? [{ event: 'note' }, ...args] : args
      method.apply(this, complete.map(onlyVisible) as Parameters<LogFn>)
    },
  }
  return pino(
    { level, base: null, hooks },
    { write: (line: string) => process.stderr.write(before() + redact(shape(line), secrets)) },
  )
}

const isEvent = (value: unknown): value is SyncEvent =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'event')

/** Makes one line of the text from the service in every field of an event. */
const toOneLines = (event: SyncEvent): SyncEvent =>
  Object.fromEntries(
    Object.entries(event).map(([name, value]) => [name, typeof value === 'string' ? oneLine(value) : value]),
  ) as unknown as SyncEvent

/** Writes events to a log: fields for scripts, a sentence for people. */
export const eventsTo =
  (log: Logger): OnEvent =>
  (event) => {
    const clean = toOneLines(event)
    log[eventLevel(event)](clean, describeEvent(clean))
  }
