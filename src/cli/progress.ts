import type { Logger } from '../base/log.ts'
import type { Progress } from '../sync.ts'
import { grouped } from './output.ts'

/** On a terminal a line that keeps itself up to date, elsewhere a log line a minute. */
export interface ProgressDisplay {
  show(progress: Progress): void
  end(): void
}

const MINUTE_MS = 60_000
const REDRAW_MS = 100

/** So many seconds as a person says them. */
const duration = (seconds: number): string =>
  seconds < 90
    ? `${Math.ceil(seconds)} s`
    : seconds < 5400
      ? `${Math.ceil(seconds / 60)} min`
      : `${(seconds / 3600).toFixed(1)} h`

/** What has been done so far, in one line. */
function line({ ask, counts, done, planned, callsLeft }: Progress, began: number): string {
  const seconds = Math.max((performance.now() - began) / 1000, 0.001)
  const rows = counts.rows_new + counts.rows_unchanged + counts.rows_revised
  return [
    `${ask.where} ${ask.route} ${ask.params.id ?? ''}`.trimEnd(),
    planned === null ? '' : `${grouped(done)} of ${grouped(planned)}`,
    `${grouped(counts.requests)} calls`,
    `${grouped(rows)} rows`,
    `${grouped(Math.round(rows / seconds))} rows/s`,
    counts.failed > 0 ? `${grouped(counts.failed)} failed` : '',
    callsLeft === undefined ? '' : `${grouped(callsLeft)} calls left`,
    planned === null || done >= planned ? '' : `${duration(((planned - done) * seconds) / done)} to go`,
  ]
    .filter((part) => part !== '')
    .join(' · ')
}

export function createProgress(log: Logger, quiet: boolean): ProgressDisplay {
  const began = performance.now()
  const terminal = process.stderr.isTTY === true && !quiet
  let last = began
  return {
    show(progress) {
      const now = performance.now()
      if (now - last < (terminal ? REDRAW_MS : MINUTE_MS)) return
      last = now
      const text = line(progress, began)
      if (terminal) process.stderr.write(`\r\u001b[K${text.slice(0, (process.stderr.columns ?? 80) - 1)}`)
      else log.info(text)
    },
    end() {
      if (terminal) process.stderr.write('\r\u001b[K')
    },
  }
}
