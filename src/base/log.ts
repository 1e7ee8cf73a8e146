import { type Logger, pino } from 'pino'
import { prettyFactory } from 'pino-pretty'
import { redact } from './redact.ts'

export type { Logger } from 'pino'

/** How much is told on stderr, and in which form. */
export interface LogOptions {
  readonly level: 'silent' | 'warn' | 'info' | 'debug'
  readonly format: 'pretty' | 'json'
  readonly color: boolean
  /** Texts that must never be written: each is replaced by `[secret]` wherever it occurs. */
  readonly secrets: readonly string[]
}

/** A logger that writes to stderr, so that stdout holds results only. */
export function createLog({ level, format, color, secrets }: LogOptions): Logger {
  const pretty = prettyFactory({ colorize: color, ignore: 'pid,hostname,time', singleLine: true })
  const shape = format === 'json' ? (line: string) => line : (line: string) => pretty(line) ?? ''
  return pino({ level, base: null }, { write: (line: string) => process.stderr.write(redact(shape(line), secrets)) })
}
