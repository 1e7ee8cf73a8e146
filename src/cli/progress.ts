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

/** What has been done so far, in one line. */
function line({ ask, counts }: Progress, began: number): string {
  const seconds = (performance.now() - began) / 1000
  const rows = counts.rows_new + counts.rows_unchanged + counts.rows_revised
  const failed = counts.failed > 0 ? ` · ${grouped(counts.failed)} failed` : ''
  return `${grouped(counts.requests)} calls · ${grouped(rows)} rows · ${grouped(Math.round(rows / Math.max(seconds, 0.001)))} rows/s${failed} · ${ask.where} ${ask.route} ${ask.params.id ?? ''}`.trimEnd()
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
