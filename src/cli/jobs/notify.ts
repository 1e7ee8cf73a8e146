import { hostname } from 'node:os'
import { findProxy } from '../../fetch/proxies.ts'
import type { Finding } from '../../findings/finding.ts'
import { groupFindings } from '../../findings/groupFindings.ts'
import type { Job } from '../../job/job.ts'
import {
  isNotifyUrl,
  NOTIFY_FORM,
  type Notify,
  type NotifyEvent,
  notifyEvents,
  notifyStyle,
} from '../../job/notification.ts'
import { NOT_REACHED } from '../../state/lastRuns.ts'
import type { Summary } from '../../sync/sync.ts'
import { BudgetError, InputError } from '../../util/errors.ts'
import { createEmitter } from '../../util/events.ts'
import { eventsTo, type Logger } from '../../util/log.ts'
import { version } from '../../util/package.ts'
import { redact } from '../../util/redact.ts'
import { asSyncError } from '../../util/systemErrors.ts'
import { quantity } from '../../util/text.ts'
import { formatMillis } from '../../util/time/instant.ts'
import { environment, readProxies } from '../settings/config.ts'
import { rememberSecret, secrets } from '../terminal/secrets.ts'
import { summaryJson, summaryText } from '../text/summary.ts'

/** The number of failures and of findings in a message. */
const MAX_SHOWN = 10
/** The number of findings in the text of a message. */
const MAX_IN_TEXT = 3
/** The command that lists all findings. */
const LIST_COMMAND = 'indicator-sync check --all'
/** The maximum length of the text of a ping. */
const PING_CHARACTERS = 10_000

/** Reads the targets of `--notify` or the variable INDICATOR_SYNC_NOTIFY. */
export function readNotifyTargets({ notify }: { readonly notify?: readonly string[] | undefined }): Notify[] {
  const variable = environment().get('INDICATOR_SYNC_NOTIFY')
  const urls = notify ?? (variable ? [variable.value] : [])
  return urls.map((url) => ({ url, style: null, on: null }))
}

/** A target of notifications, with all defaults applied. */
type NotifyTarget = { readonly [K in keyof Notify]: NonNullable<Notify[K]> }

/** Resolves the address of a target, and registers it as a secret. `place`: where the target is written. */
function resolveTarget(target: Notify, place: string): NotifyTarget {
  const name = /^\$(\w+)$/.exec(target.url)?.[1]
  const url = name === undefined ? target.url : environment().get(name)?.value
  if (url === undefined)
    throw new InputError(`The variable ${name} is not set, but a notification uses it as its address.`, {
      hint: `Set it in the environment or in .env, or remove the notification from ${place}.`,
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

/** The address of a ping: with `start` or `fail` appended to its path, or unchanged for a success. */
function pingUrl(address: string, event: NotifyEvent, ok: boolean): string {
  const url = new URL(address)
  if (event !== 'start' && ok) return url.href
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${event === 'start' ? 'start' : 'fail'}`
  return url.href
}

/** The fields of a message about a run. */
interface Notification {
  readonly event: NotifyEvent
  readonly job: string
  readonly text: string
  /** True if the run is done, or continues when its budget is renewed. */
  readonly ok: boolean
  readonly more: object
}

/** A job, or a job file with mistakes, whose runs are notified. */
export type NotifiedJob = Pick<Job, 'name' | 'notify'>

/** Sends notifications in the background. */
export interface Notifier {
  started(job: NotifiedJob): void
  /** `readFindings`: reads what is wrong with the database after the run; only called if somebody is notified. */
  ended(job: NotifiedJob, summary: Summary, readFindings: () => Promise<readonly Finding[]>): Promise<void>
  /** Notifies of a run that did not start, or ended with an unexpected error. */
  broke(job: NotifiedJob, error: unknown): void
  /** Drops undelivered messages; later ones are sent within a second or two. */
  abort(): void
  /** Waits until all messages are delivered or dropped. */
  finish(): Promise<void>
}

/** The summary of a run as JSON, with its first failures. */
const shortSummary = (summary: Summary): object =>
  summaryJson({ ...summary, failures: summary.failures.slice(0, MAX_SHOWN) })

/** A finding without its lists, which may be longer than a chat accepts. */
const withoutLists = ({ geo_ids, targets, ...finding }: Finding) => finding

/** The first findings, and how many there are. */
function findingLines(findings: readonly Finding[]): string[] {
  const shown = findings.slice(0, MAX_IN_TEXT).map(({ kind, message }) => `${kind}: ${message}`)
  const more = findings.length - shown.length
  return more > 0 ? [...shown, `${quantity(more, 'more finding')}: indicator-sync check`] : shown
}

interface NotifierOptions {
  readonly command: string
  readonly log: Logger
  /** Leaves out targets that cannot be used, instead of throwing. */
  readonly skipsInvalid?: boolean
}

/**
 * Notifies the targets of the flags and of each job. Logs a warning if a message cannot be delivered. Throws InputError if the address of a
 * target or of its proxy is not valid.
 */
export function createNotifier(
  jobs: readonly NotifiedJob[],
  flags: readonly Notify[],
  { command, log, skipsInvalid = false }: NotifierOptions,
): Notifier {
  const proxies = readProxies()
  const resolveAll = (all: readonly Notify[], place: string): NotifyTarget[] =>
    all.flatMap((target) => {
      try {
        const resolved = resolveTarget(target, place)
        findProxy(resolved.url, proxies)
        return resolved
      } catch (error) {
        if (skipsInvalid) return []
        throw error
      }
    })
  const always = resolveAll(flags, 'the command (--notify, or INDICATOR_SYNC_NOTIFY without that flag)')
  const targets = new Map(jobs.map((job) => [job, [...always, ...resolveAll(job.notify, `job ${job.name}`)]]))
  /** Messages to one target are sent in order. */
  const queues = new Map<string, Promise<void>>()
  const controller = new AbortController()
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
            url: pingUrl(url, event, ok),
            type: 'text/plain; charset=utf-8' as const,
            body: event === 'start' ? '' : redacted.slice(0, PING_CHARACTERS),
          }
        : { url, type: 'application/json' as const, body: redact(JSON.stringify(payload), secrets()) }
    const before = queues.get(url) ?? Promise.resolve()
    const delivered = before
      .then(async () => {
        // The sender is loaded with the first message.
        const { deliver, LAST_DELIVERY } = await import('../../fetch/deliver.ts')
        const named = { ...message, proxies }
        return controller.signal.aborted ? deliver(named, LAST_DELIVERY) : deliver(named, {}, controller.signal)
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
  const sendToTargets = (job: NotifiedJob, notification: Omit<Notification, 'job'>): void => {
    for (const target of targets.get(job) ?? [])
      if (target.on.includes(notification.event)) send(target, { ...notification, job: job.name })
  }
  return {
    started: (job) => sendToTargets(job, { event: 'start', ok: true, text: `${job.name}: started.`, more: {} }),
    async ended(job, summary, readFindings) {
      const { outcome, earlyEnd } = summary
      if (!(targets.get(job) ?? []).some(({ on }) => on.includes(outcome))) return
      const ok = outcome === 'done' || earlyEnd instanceof BudgetError
      const findings = groupFindings(await readFindings(), LIST_COMMAND)
      const text = [summaryText(summary), ...findingLines(findings)].join('\n')
      const more = { ...shortSummary(summary), findings: findings.slice(0, MAX_SHOWN).map(withoutLists) }
      sendToTargets(job, { event: outcome, ok, text, more })
    },
    broke: (job, thrown) => {
      const { code, message, hint = null } = asSyncError(thrown)
      const stop = { code, message, hint }
      // The record of the run has the same outcome.
      const outcome = code === NOT_REACHED ? 'stopped' : 'failed'
      sendToTargets(job, { event: outcome, ok: false, text: `${job.name}: ${message}`, more: { outcome, stop } })
    },
    abort: () => controller.abort(),
    finish: async () => {
      await Promise.all(queues.values())
    },
  }
}
