import { hostname } from 'node:os'
import { InputError, StoppedError, SyncError } from '../base/errors.ts'
import { formatMillis } from '../base/instant.ts'
import { eventsTo, type Logger } from '../base/log.ts'
import { redact } from '../base/redact.ts'
import type { Job } from '../job/job.ts'
import {
  eventsOf,
  isNotifyUrl,
  NOTIFY_FORM,
  type Notify,
  type NotifyEvent,
  type NotifyStyle,
  styleOf,
} from '../job/notify.ts'
import type { Summary } from '../sync.ts'
import { environment } from './config.ts'
import { rememberSecret, secrets } from './secrets.ts'
import { summaryJson, summaryText } from './terminal/summary.ts'
import { version } from './version.ts'

/** The values of the flags about notifications. */
export interface NotifyArgs {
  readonly notify?: readonly string[] | undefined
  readonly notifyOn?: readonly NotifyEvent[] | undefined
  readonly notifyStyle?: 'auto' | NotifyStyle | undefined
}

/** Failures that a message tells one by one. */
const MAX_FAILURES_SHOWN = 10
/** Characters of a text that goes with a ping. */
const PING_CHARACTERS = 10_000

/** Who is told of every run, by the flags or by the variable INDICATOR_SYNC_NOTIFY. */
export function notifyTargets({ notify, notifyOn, notifyStyle }: NotifyArgs): Notify[] {
  const variable = environment().get('INDICATOR_SYNC_NOTIFY')
  const urls = notify ?? (variable ? [variable.value] : [])
  const style = notifyStyle === 'auto' ? null : (notifyStyle ?? null)
  return urls.map((url) => ({ url, style, on: notifyOn ?? null }))
}

/** Somebody who is told, with everything said. */
type NotifyTarget = { readonly [K in keyof Notify]: NonNullable<Notify[K]> }

/** A target with its address; what may be a secret in it is shown nowhere from here on. */
function resolveTarget(target: Notify): NotifyTarget {
  const name = /^\$(\w+)$/.exec(target.url)?.[1]
  const url = name === undefined ? target.url : environment().get(name)?.value
  if (url === undefined)
    throw new InputError(`The variable ${name} is not set, and a notification goes to the address that it holds.`, {
      hint: 'Set it, also in .env, or take the notification out of the job.',
      code: 'no-notify-url',
    })
  if (!isNotifyUrl(url) || url.startsWith('$'))
    throw new InputError(`A notification goes to an address that is not legal; legal: ${NOTIFY_FORM}.`, {
      hint: 'See --notify, INDICATOR_SYNC_NOTIFY and notify in the job file. The address is not shown here: it may be a secret.',
      code: 'bad-notify-url',
    })
  const { pathname, search, href } = new URL(url)
  for (const secret of [url, href, `${pathname}${search}`]) rememberSecret(secret)
  const style = target.style ?? styleOf(url)
  return { url, style, on: target.on ?? eventsOf(style) }
}

/** The address of a ping: itself, or with a word at the end of its path. */
function pingUrl(address: string, word: '' | 'start' | 'fail'): string {
  const url = new URL(address)
  if (word !== '') url.pathname = `${url.pathname.replace(/\/$/, '')}/${word}`
  return url.href
}

/** What a message says of a run, whatever became of it. */
interface Notification {
  readonly event: NotifyEvent
  readonly job: string
  readonly text: string
  /** Nothing is wrong: all is done, or goes on by itself when there is budget again. */
  readonly ok: boolean
  readonly more: object
}

/** Tells of runs while they go on; nobody waits for it but `finish`. */
export interface Notifier {
  started(job: Job): void
  ended(job: Job, summary: Summary): void
  /** A run that did not even begin, or broke. */
  broke(job: Job, error: unknown): void
  /** The run was stopped: what is not delivered yet is given up, and what is still to be told is told in a second or two. */
  hurry(): void
  /** Waits until everything is delivered or given up. */
  finish(): Promise<void>
}

/** What a run did, with the first of its failures. */
const summaryOf = (summary: Summary): object =>
  summaryJson({ ...summary, failures: summary.failures.slice(0, MAX_FAILURES_SHOWN) })

/** Tells those who are named by the flags, and by each job, what becomes of its runs. What cannot be delivered is a warning, never an error. */
export function createNotifier(
  jobs: readonly Job[],
  flags: readonly Notify[],
  { command, log }: { readonly command: string; readonly log: Logger },
): Notifier {
  const always = flags.map(resolveTarget)
  const targets = new Map(jobs.map((job) => [job, [...always, ...job.notify.map(resolveTarget)]]))
  /** What one target is told arrives in the order in which it happened. */
  const queues = new Map<string, Promise<void>>()
  const stop = new AbortController()
  const send = ({ url, style }: NotifyTarget, { event, job, text, ok, more }: Notification): void => {
    const said = redact(text, secrets())
    const payload = {
      ...{ event, ok, job, command, text: said, host: hostname(), version: version(), at: formatMillis(Date.now()) },
      ...more,
    }
    const message =
      style === 'ping'
        ? {
            url: pingUrl(url, event === 'start' ? 'start' : ok ? '' : 'fail'),
            type: 'text/plain; charset=utf-8' as const,
            body: event === 'start' ? '' : said.slice(0, PING_CHARACTERS),
          }
        : { url, type: 'application/json' as const, body: redact(JSON.stringify(payload), secrets()) }
    const before = queues.get(url) ?? Promise.resolve()
    const delivered = before
      .then(async () => {
        // Loaded when somebody is told.
        const { deliver, HURRY } = await import('../fetch/notify.ts')
        const named = { ...message, userAgent: `indicator-sync/${version()}` }
        return stop.signal.aborted ? deliver(named, HURRY) : deliver(named, {}, stop.signal)
      })
      .then((reason) => {
        if (reason === null) return
        const { host } = new URL(url)
        eventsTo(log)({ event: 'notify.failed', job, reason: `${host} could not be told of ${event}: ${reason}.` })
      })
    queues.set(url, delivered)
  }
  const tell = (job: Job, told: Omit<Notification, 'job'>): void => {
    for (const target of targets.get(job) ?? [])
      if (target.on.includes(told.event)) send(target, { ...told, job: job.name })
  }
  return {
    started: (job) => tell(job, { event: 'start', ok: true, text: `${job.name}: begun.`, more: {} }),
    ended: (job, summary) => {
      const { outcome, stop } = summary
      const ok = outcome === 'done' || (stop instanceof StoppedError && stop.code === 'budget')
      tell(job, { event: outcome, ok, text: summaryText(summary), more: summaryOf(summary) })
    },
    broke: (job, error) => {
      const ours = error instanceof SyncError
      const text = ours ? error.message : 'an unexpected error'
      const code = ours ? error.code : 'bug'
      const stop = { code, message: text, hint: ours ? (error.hint ?? null) : null }
      tell(job, { event: 'failed', ok: false, text: `${job.name}: ${text}`, more: { outcome: 'failed', stop } })
    },
    hurry: () => stop.abort(),
    finish: async () => {
      await Promise.all(queues.values())
    },
  }
}
