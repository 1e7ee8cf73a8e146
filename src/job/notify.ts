/** What can be told of a run: that it began, and how it ended. */
export const NOTIFY_EVENTS = ['start', 'done', 'partial', 'stopped', 'failed'] as const
export type NotifyEvent = (typeof NOTIFY_EVENTS)[number]

/** `json` posts what happened; `ping` asks for the address itself, with /start or /fail at its end, as healthchecks.io wants it. */
export const NOTIFY_STYLES = ['json', 'ping'] as const
export type NotifyStyle = (typeof NOTIFY_STYLES)[number]

/** Who is told of the runs of a job, and of what. */
export interface Notify {
  /** An address, or `$NAME` for a variable that holds one: addresses often are secrets. */
  readonly url: string
  /** Null: as the address looks. */
  readonly style: NotifyStyle | null
  /** Null: a ping is told everything, a post how the run ended. */
  readonly on: readonly NotifyEvent[] | null
}

/** What a legal address looks like, for messages that must not repeat the one that was given. */
export const NOTIFY_FORM = 'an address such as https://host/path, or $NAME for a variable that holds one'

/** Whether an address can be told anything; a user and a password belong into no address. */
export function isNotifyUrl(text: string): boolean {
  if (/^\$\w+$/.test(text)) return true
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return ['http:', 'https:'].includes(protocol) && username === '' && password === ''
}

/** The style of an address that says none: a ping for those of healthchecks.io and of its copies, `https://host/ping/…`. */
export const styleOf = (url: string): NotifyStyle =>
  URL.canParse(url) && (new URL(url).hostname === 'hc-ping.com' || new URL(url).pathname.startsWith('/ping/'))
    ? 'ping'
    : 'json'

/** What is told in a style when nobody says otherwise. */
export const eventsOf = (style: NotifyStyle): readonly NotifyEvent[] =>
  style === 'ping' ? NOTIFY_EVENTS : NOTIFY_EVENTS.filter((event) => event !== 'start')
