import { hostname } from 'node:os'
import type { Job } from '../../job/job.ts'
import {
  isNotifyUrl,
  NOTIFY_FORM,
  type Notify,
  type NotifyEvent,
  notifyEvents,
  notifyStyle,
} from '../../job/notification.ts'
import type { Summary } from '../../sync/sync.ts'
import { BudgetError, InputError } from '../../util/errors.ts'
import { createEmitter } from '../../util/events.ts'
import { eventsTo, type Logger } from '../../util/log.ts'
import { version } from '../../util/package.ts'
import { redact } from '../../util/redact.ts'
import { asSyncError } from '../../util/systemErrors.ts'
import { formatMillis } from '../../util/time/instant.ts'
import { environment } from '../settings/config.ts'
import { rememberSecret, secrets } from '../terminal/secrets.ts'
import { summaryJson, summaryText } from '../text/summary.ts'

/** How many failures a message lists. */
const MAX_FAILURES_SHOWN = 10
/** Characters of a text that goes with a ping. */
const PING_CHARACTERS = 10_000

/** The targets of `--notify` or the variable INDICATOR_SYNC_NOTIFY. */
export function notifyTargets({ notify }: { readonly notify?: readonly string[] | undefined }): Notify[] {
  const variable = environment().get('INDICATOR_SYNC_NOTIFY')
  const urls = notify ?? (variable ? [variable.value] : [])
  return urls.map((url) => ({ url, style: null, on: null }))
}

/** A target of notifications, with all defaults applied. */
type NotifyTarget = { readonly [K in keyof Notify]: NonNullable<Notify[K]> }

/** A target with its address; what may be a secret in it is shown nowhere from here on. */
function resolveTarget(target: Notify): NotifyTarget {
  const name = /^\$(\w+)$/.exec(target.url)?.[1]
  const url = name === undefined ? target.url : environment().get(name)?.value
  if (url === undefined)
    throw new InputError(`The variable ${name} is not set, but a notification uses it as its address.`, {
      hint: 'Set it in the environment or in .env, or remove the notification from the job.',
      code: 'no-notify-url',
    })
  if (!isNotifyUrl(url) || url.startsWith('$'))
    throw new InputError(`The notification address is not valid; expected ${NOTIFY_FORM}.`, {
      hint: 'Check --notify, INDICATOR_SYNC_NOTIFY and notify in the job file. The address may be a secret, so it is not shown.',
      code: 'bad-notify-url',
    })
  const { pathname, search, href } = new URL(url)
  for (const secret of [url, href, `${pathname}${search}`]) rememberSecret(secret)
  const style = target.style ?? notifyStyle(url)
  return { url, style, on: target.on ?? notifyEvents(style) }
}

/** The address of a ping: the given one, or with an event appended to its path. */
function pingUrl(address: string, word: '' | 'start' | 'fail'): string {
  const url = new URL(address)
  if (word !== '') url.pathname = `${url.pathname.replace(/\/$/, '')}/${word}`
  return url.href
}

/** The fields of a message about a run. */
interface Notification {
  readonly event: NotifyEvent
  readonly job: string
  readonly text: string
  /** Whether nothing is wrong: all is done, or the run will be resumed when there is budget again. */
  readonly ok: boolean
  readonly more: object
}

/** Sends notifications while runs continue; only `finish` waits for them. */
export interface Notifier {
  started(job: Job): void
  ended(job: Job, summary: Summary): void
  /** A run that did not even begin, or broke. */
  broke(job: Job, error: unknown): void
  /** The run was stopped: undelivered messages are given up, and the last ones are sent within a second or two. */
  abort(): void
  /** Waits until everything is delivered or given up. */
  finish(): Promise<void>
}

/** What a run did, with the first of its failures. */
const summaryOf = (summary: Summary): object =>
  summaryJson({ ...summary, failures: summary.failures.slice(0, MAX_FAILURES_SHOWN) })

/** Notifies the targets of the flags and of each job. A message that cannot be delivered is a warning, never an error. */
export function createNotifier(
  jobs: readonly Job[],
  flags: readonly Notify[],
  { command, log }: { readonly command: string; readonly log: Logger },
): Notifier {
  const always = flags.map(resolveTarget)
  const targets = new Map(jobs.map((job) => [job, [...always, ...job.notify.map(resolveTarget)]]))
  /** Messages to one target are sent in order. */
  const queues = new Map<string, Promise<void>>()
  const stop = new AbortController()
  const send = ({ url, style }: NotifyTarget, { event, job, text, ok, more }: Notification): void => {
    const redacted = redact(text, secrets())
    const payload = {
      event,
      ok,
      job,
      command,
      text: redacted,
      host: hostname(),
      version: version(),
      at: formatMillis(Date.now()),
      ...more,
    }
    const message =
      style === 'ping'
        ? {
            url: pingUrl(url, event === 'start' ? 'start' : ok ? '' : 'fail'),
            type: 'text/plain; charset=utf-8' as const,
            body: event === 'start' ? '' : redacted.slice(0, PING_CHARACTERS),
          }
        : { url, type: 'application/json' as const, body: redact(JSON.stringify(payload), secrets()) }
    const before = queues.get(url) ?? Promise.resolve()
    const delivered = before
      .then(async () => {
        // Loaded with the first message.
        const { deliver, LAST_DELIVERY } = await import('../../fetch/deliver.ts')
        const named = { ...message, version: version() }
        return stop.signal.aborted ? deliver(named, LAST_DELIVERY) : deliver(named, {}, stop.signal)
      })
      .then((reason) => {
        if (reason === null) return
        const { host } = new URL(url)
        createEmitter(eventsTo(log))('notify.failed', {
          job,
          reason: `${host} did not receive the notification ${event}: ${reason}.`,
        })
      })
    queues.set(url, delivered)
  }
  const notifyTargets = (job: Job, notification: Omit<Notification, 'job'>): void => {
    for (const target of targets.get(job) ?? [])
      if (target.on.includes(notification.event)) send(target, { ...notification, job: job.name })
  }
  return {
    started: (job) => notifyTargets(job, { event: 'start', ok: true, text: `${job.name}: started.`, more: {} }),
    ended: (job, summary) => {
      const { outcome, stop } = summary
      const ok = outcome === 'done' || stop instanceof BudgetError
      notifyTargets(job, { event: outcome, ok, text: summaryText(summary), more: summaryOf(summary) })
    },
    broke: (job, thrown) => {
      const { code, message, hint = null } = asSyncError(thrown)
      const stop = { code, message, hint }
      notifyTargets(job, {
        event: 'failed',
        ok: false,
        text: `${job.name}: ${message}`,
        more: { outcome: 'failed', stop },
      })
    },
    abort: () => stop.abort(),
    finish: async () => {
      await Promise.all(queues.values())
    },
  }
}
