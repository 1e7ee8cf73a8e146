import type { RunOutcome } from '../util/eventFields.ts'

/** The events of a run that can be notified. */
export const NOTIFY_EVENTS = ['start', 'done', 'partial', 'stopped', 'failed'] as const satisfies readonly (
  | 'start'
  | RunOutcome
)[]
export type NotifyEvent = (typeof NOTIFY_EVENTS)[number]

/** `json` posts the event as JSON; `ping` requests the address with /start or /fail appended, like healthchecks.io. */
export const NOTIFY_STYLES = ['json', 'ping'] as const
export type NotifyStyle = (typeof NOTIFY_STYLES)[number]

/** An address for notifications, and its events. */
export interface Notify {
  /** An address, or `$NAME` of a variable, because addresses often are secrets. */
  readonly url: string
  /** Null: by the address. */
  readonly style: NotifyStyle | null
  /** Null: every event for a ping, all but the start for JSON. */
  readonly on: readonly NotifyEvent[] | null
}

/** Examples of legal addresses, for messages, which must not repeat a secret address. */
export const NOTIFY_FORM = 'https://HOST/PATH, or $NAME for a variable that contains such an address'

/** Whether an address is legal. Addresses with a user or password are not. */
export function isNotifyUrl(text: string): boolean {
  if (/^\$\w+$/.test(text)) return true
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return ['http:', 'https:'].includes(protocol) && username === '' && password === ''
}

/** The default style of an address: a ping for healthchecks.io and compatible services, `https://host/ping/…`. */
export const notifyStyle = (url: string): NotifyStyle =>
  URL.canParse(url) && (new URL(url).hostname === 'hc-ping.com' || new URL(url).pathname.startsWith('/ping/'))
    ? 'ping'
    : 'json'

/** The default events of a style. */
export const notifyEvents = (style: NotifyStyle): readonly NotifyEvent[] =>
  style === 'ping' ? NOTIFY_EVENTS : NOTIFY_EVENTS.filter((event) => event !== 'start')
