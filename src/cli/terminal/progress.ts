import type { PlannedRequest } from '../../job/plannedRequest.ts'
import type { Progress } from '../../sync/context.ts'
import { eventRequest } from '../../sync/requestEvents.ts'
import type { FieldsOf } from '../../util/events.ts'
import { createLog, type Logger, type LogOptions } from '../../util/log.ts'
import { durationText, grouped, oneLine, quantity } from '../../util/text.ts'
import { MINUTE_MS } from '../../util/time/instant.ts'
import { formatLocal } from '../../util/time/zone.ts'
import type { CommonArgs } from '../command.ts'
import { cutTo } from './width.ts'

const REDRAW_MS = 100

/** Returns the local days of a window, including the last one. */
function windowText({ window, timeZone }: PlannedRequest): string {
  if (!window) return ''
  const [first, last] = [window.from, Math.max(window.from, window.to - 1)].map((at) =>
    formatLocal(timeZone, at).slice(0, 10),
  )
  return first === last ? first! : `${first} … ${last}`
}

/** Calculates the speed in values per second, and the seconds until the end; null if the total is unknown. */
function measure({ counts, done, total }: Progress, seconds: number) {
  const values = counts.rows_new + counts.rows_unchanged + counts.rows_revised
  return {
    values_per_second: Math.round(values / seconds),
    left_seconds: total === null || done === 0 ? null : Math.ceil(((total - done) * seconds) / done),
  }
}

/** Writes a progress line within some cells, the most important facts first. */
export function progressLine(progress: Progress, seconds: number, name: string | undefined, cells: number): string {
  const { planned, callsLeft, counts, done, total } = progress
  const { values_per_second, left_seconds } = measure(progress, seconds)
  const { id } = planned.params
  const facts = [
    total === null ? `${grouped(done)} done` : `${grouped(done)} of ${grouped(total)}`,
    left_seconds === null || done >= total! ? '' : `${durationText(left_seconds)} to go`,
    counts.failed > 0 ? `${grouped(counts.failed)} failed` : '',
    `${name ?? planned.route}${id === undefined ? '' : ` (${id})`} ${windowText(planned)}`.trimEnd(),
    `${quantity(values_per_second, 'value')}/s`,
    callsLeft === undefined ? '' : `budget leaves ${quantity(callsLeft, 'call')}`,
  ]
  return cutTo(oneLine(facts.filter((fact) => fact !== '').join(' · ')), cells)
}

/** Whether the terminal shows a progress line that must be cleared before other output. */
let isDrawn = false

/** Returns the text that clears the progress line. */
function clearLine(): string {
  if (!isDrawn) return ''
  isDrawn = false
  return '\r\u001b[K'
}

function logLevel({ quiet, verbose }: Pick<CommonArgs, 'quiet' | 'verbose'>): LogOptions['level'] {
  if (quiet) return 'warn'
  return verbose ? 'debug' : 'info'
}

/** Creates a log on stderr that clears the progress line before each entry. */
export const logFor = ({ quiet, verbose, logFormat }: CommonArgs, secrets: readonly string[]): Logger =>
  createLog({
    level: logLevel({ quiet, verbose }),
    format: logFormat,
    isColored: process.stderr.isTTY === true && !process.env.NO_COLOR,
    secrets,
    before: clearLine,
  })

/** Milliseconds between two reports of progress in a log. */
const REPORT_MS = 10_000

/** Returns a function that logs progress, but not more often than every ten seconds. */
export function createReporter(log: Logger): (text: string) => void {
  let reportedAt = performance.now()
  return (text) => {
    if (performance.now() - reportedAt < REPORT_MS) return
    reportedAt = performance.now()
    log.info(text)
  }
}

/**
 * Shows progress: a line that is redrawn on a terminal, otherwise an event each minute. `readName` reads the stored name of what is
 * fetched.
 */
export function createProgress(
  isQuiet: boolean,
  report: (fields: FieldsOf<'run.progress'>) => void,
  readName: (planned: PlannedRequest) => Promise<string | undefined>,
) {
  const began = performance.now()
  const isTerminal = process.stderr.isTTY === true && !isQuiet
  let last = began
  return {
    async show(progress: Progress): Promise<void> {
      const now = performance.now()
      if (isQuiet || now - last < (isTerminal ? REDRAW_MS : MINUTE_MS)) return
      last = now
      const { planned, counts, done, total, callsLeft = null } = progress
      const seconds = Math.max((now - began) / 1000, 0.001)
      const cells = isTerminal ? (process.stderr.columns || 80) - 1 : Number.POSITIVE_INFINITY
      const reason = progressLine(progress, seconds, await readName(planned), cells)
      if (isTerminal) {
        process.stderr.write(`\r\u001b[K${reason}`)
        isDrawn = true
        return
      }
      const { requests, failed } = counts
      const speed = measure(progress, seconds)
      report({ ...eventRequest(planned), done, total, requests, failed, calls_left: callsLeft, ...speed, reason })
    },
    end(): void {
      if (isTerminal) process.stderr.write(clearLine())
    },
  }
}
