import { type LogFn, type Logger, type LoggerOptions, pino } from 'pino'
import { prettyFactory } from 'pino-pretty'
import { isLogged, levelOf, type OnEvent, type SyncEvent, sentenceOf } from './events.ts'
import { redact } from './redact.ts'
import { oneLine, visible } from './visible.ts'

export type { Logger } from 'pino'

/** How much is told on stderr, and in which form. */
export interface LogOptions {
  readonly level: 'silent' | 'warn' | 'info' | 'debug'
  readonly format: 'pretty' | 'json'
  readonly color: boolean
  /** Texts that must never be written: each is replaced by `[secret]` wherever it occurs. */
  readonly secrets: readonly string[]
  /** What is to be written before a line, such as what clears another one. */
  readonly before?: () => string
}

/** The same with nothing in it that is not seen, however deep. */
const seen = (value: unknown): unknown => {
  if (typeof value === 'string') return visible(value)
  if (typeof value !== 'object' || value === null || value instanceof Error) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, seen(part)]))
}

/** A logger that writes to stderr, so that stdout holds results only. Pretty lines are sentences, JSON lines have the fields beside them. */
export function createLog({ level, format, color, secrets, before = () => '' }: LogOptions): Logger {
  const pretty = prettyFactory({ colorize: color, ignore: 'pid,hostname,time', singleLine: true, hideObject: true })
  const shape = format === 'json' ? (line: string) => line : (line: string) => `${(pretty(line) ?? '').trimEnd()}\n`
  const hooks: LoggerOptions['hooks'] = {
    logMethod(args, method) {
      const [first] = args as readonly unknown[]
      const left = isEvent(first) && !isLogged(first.event, { pretty: format === 'pretty', level })
      // What is told may hold words of the service: they forge no line and move no cursor.
      if (left) return
      const whole = typeof first === 'string' ? [{ event: 'note' }, ...args] : args
      method.apply(this, whole.map(seen) as Parameters<LogFn>)
    },
  }
  return pino(
    { level, base: null, hooks },
    { write: (line: string) => process.stderr.write(before() + redact(shape(line), secrets)) },
  )
}

const isEvent = (value: unknown): value is SyncEvent =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, 'event')

/** What a service said is one line, wherever it stands in an event. */
const tidied = (event: SyncEvent): SyncEvent =>
  Object.fromEntries(
    Object.entries(event).map(([name, value]) => [name, typeof value === 'string' ? oneLine(value) : value]),
  ) as unknown as SyncEvent

/** Writes events to a log: the fields for machines, a sentence for people. */
export const eventsTo =
  (log: Logger): OnEvent =>
  (event) => {
    const clean = tidied(event)
    log[levelOf(event)](clean, sentenceOf(clean))
  }
