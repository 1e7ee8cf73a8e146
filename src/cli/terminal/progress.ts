import type { PlannedRequest } from '../../job/plannedRequest.ts'
import type { Progress } from '../../sync/context.ts'
import { eventRequest } from '../../sync/requestEvents.ts'
import type { FieldsOf } from '../../util/events.ts'
import { grouped, oneLine, quantity } from '../../util/text.ts'
import { MINUTE_MS } from '../../util/time/instant.ts'
import { formatLocal } from '../../util/time/zone.ts'
import { cutTo, width } from './width.ts'

/** On a terminal a line that keeps itself up to date, elsewhere an event a minute. */
export interface ProgressDisplay {
  show(progress: Progress): void
  end(): void
}

/** What the display needs to know apart from the progress of the run. */
export interface ProgressOptions {
  /** No line at all. */
  readonly quiet: boolean
  /** Called once a minute where stderr is not a terminal. */
  readonly report: (fields: FieldsOf<'run.progress'>) => void
  /** The name of what is fetched, where it is stored. */
  readonly nameOf: (planned: PlannedRequest) => Promise<string | undefined>
}

const REDRAW_MS = 100
/** The fewest cells of a name that are useful. */
const LEAST_NAME = 8

/** A number of seconds as text for people. */
const waitText = (seconds: number): string =>
  seconds < 90
    ? `${Math.ceil(seconds)} s`
    : seconds < 5400
      ? `${Math.ceil(seconds / 60)} min`
      : `${(seconds / 3600).toFixed(1)} h`

/** The local days of a window, the last one included. */
function windowText({ window, timeZone }: PlannedRequest): string {
  if (!window) return ''
  const [first, last] = [window.from, Math.max(window.from, window.to - 1)].map((at) =>
    formatLocal(timeZone, at).slice(0, 10),
  )
  return first === last ? first! : `${first} … ${last}`
}

/** How far a run is, as numbers. */
function progressFields(
  { planned, counts, done, total, callsLeft }: Progress,
  seconds: number,
): FieldsOf<'run.progress'> {
  const values = counts.rows_new + counts.rows_unchanged + counts.rows_revised
  return {
    ...eventRequest(planned),
    done,
    total,
    requests: counts.requests,
    failed: counts.failed,
    calls_left: callsLeft ?? null,
    values_per_second: Math.round(values / seconds),
    left_seconds: total === null || done === 0 ? null : Math.ceil(((total - done) * seconds) / done),
  }
}

/** A progress line of at most a number of cells: the name is shortened first, then the least important parts are left out. */
export function progressLine(progress: Progress, seconds: number, name: string | undefined, cells: number): string {
  const { planned, callsLeft } = progress
  const of = progressFields(progress, seconds)
  const { id } = planned.params
  const what = oneLine(`${name ?? planned.route}${id === undefined ? '' : ` (${id})`}`)
  const short = oneLine(String(id ?? planned.route))
  // Those that matter least come last.
  const facts = [
    of.total === null || of.total === undefined
      ? `${grouped(of.done!)} done`
      : `${grouped(of.done!)} of ${grouped(of.total)}`,
    of.left_seconds === null || of.left_seconds === undefined || of.done! >= of.total!
      ? ''
      : `${waitText(of.left_seconds)} to go`,
    `${quantity(of.values_per_second!, 'value')}/s`,
    callsLeft === undefined ? '' : `budget leaves ${quantity(callsLeft, 'call')}`,
    of.failed! > 0 ? `${grouped(of.failed!)} failed` : '',
    windowText(planned),
    quantity(of.requests!, 'request'),
  ].filter((part) => part !== '')
  const line = (head: string, count: number): string => {
    const shown = facts.slice(0, count)
    // The window follows the name of its series.
    const days = windowText(planned)
    const window = days !== '' && shown.includes(days) ? ` ${days}` : ''
    return [`${head}${window}`, ...shown.filter((part) => part !== days)].join(' · ')
  }
  for (let count = facts.length; count > 0; count--) {
    const room = cells - width(line('', count))
    if (room >= Math.min(LEAST_NAME, width(what))) return line(cutTo(what, room), count)
    if (room >= width(short) && count <= facts.length - 1) return line(short, count)
  }
  return cutTo(short, cells)
}

/** Whether the terminal has a progress line that has to be cleared before anything else is written. */
let drawn = false

/** The text that clears the progress line, to be written before anything else. */
export function clearLine(): string {
  if (!drawn) return ''
  drawn = false
  return '\r\u001b[K'
}

export function createProgress({ quiet, report, nameOf }: ProgressOptions): ProgressDisplay {
  const began = performance.now()
  const terminal = process.stderr.isTTY === true && !quiet
  let last = began
  return {
    async show(progress) {
      const now = performance.now()
      if (quiet || now - last < (terminal ? REDRAW_MS : MINUTE_MS)) return
      last = now
      const seconds = Math.max((now - began) / 1000, 0.001)
      const cells = terminal ? (process.stderr.columns || 80) - 1 : Number.POSITIVE_INFINITY
      const text = progressLine(progress, seconds, await nameOf(progress.planned), cells)
      if (!terminal) return report({ ...progressFields(progress, seconds), reason: text })
      process.stderr.write(`\r\u001b[K${text}`)
      drawn = true
    },
    end() {
      if (terminal) process.stderr.write(clearLine())
    },
  }
}
