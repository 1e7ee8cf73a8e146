/* The events of a run, for the hook `onEvent` and for the log. */
import type { EventFields, EventRows, RunOutcome } from './eventFields.ts'
import { quantity } from './text.ts'

/** The declaration of an event: its level, where it is shown, its fields and its sentence. */
interface EventDeclaration {
  readonly level: 'info' | 'warn' | 'error'
  /** `verbose`: people see it only with `--verbose`, because the summary or the progress line says the same. */
  readonly pretty?: 'verbose'
  /** Whether the run recovers from it, so that `--quiet` omits it. */
  readonly selfHealing?: true
  readonly when: string
  readonly fields: readonly (keyof EventFields)[]
  /** The line for people; by default the job and the reason. */
  readonly sentence?: (fields: EventFields) => string
}

const REQUEST_FIELDS = ['run', 'job', 'command', 'entry', 'route', 'indicator', 'window', 'target'] as const
const RUN_FIELDS = ['run', 'job', 'command'] as const
const ERROR = ['code', 'reason', 'hint'] as const

const requestText = ({ entry, route, target, url }: EventFields): string =>
  [entry, route, target ?? url].filter((part) => part !== undefined && part !== '').join(' ')
const seconds = (ms: number | undefined): string => `${Math.ceil((ms ?? 0) / 1000)} s`
const responseText = ({ status, ms, attempt = 1 }: EventFields): string =>
  [
    status ? `status ${status}` : 'no response',
    ...(ms === null || ms === undefined ? [] : [`in ${Math.round(ms)} ms`]),
    ...(attempt > 1 ? [`at attempt ${attempt}`] : []),
  ].join(' ')
const rowsText = (rows: EventRows | undefined): string =>
  Object.entries(rows ?? {})
    .filter(([name, count]) => count > 0 || name === 'new')
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')

/** Every event. */
export const EVENTS = {
  'run.started': {
    level: 'info',
    pretty: 'verbose',
    when: 'A run starts.',
    fields: RUN_FIELDS,
    sentence: ({ job, run, command }) => `${job}: run ${run} (${command}) starts`,
  },
  'request.done': {
    level: 'info',
    pretty: 'verbose',
    when: 'A response was stored; `loaded` says whether its rows were loaded.',
    fields: [...REQUEST_FIELDS, 'attempt', 'status', 'ms', 'bytes', 'rows', 'loaded'],
    sentence: (event) =>
      `${requestText(event)}: ${responseText(event)}, ${event.loaded === false ? 'mixed resolutions, split into smaller windows' : rowsText(event.rows)}`,
  },
  'request.retried': {
    level: 'warn',
    pretty: 'verbose',
    selfHealing: true,
    when: 'An attempt failed and is retried.',
    fields: [...REQUEST_FIELDS, 'attempt', 'status', 'code', 'reason', 'url'],
    sentence: (event) => `${requestText(event)}: attempt ${event.attempt} failed, retrying: ${event.reason}`,
  },
  'request.split': {
    level: 'info',
    pretty: 'verbose',
    when: 'A window is too large and is split. If `parts` is 0, it is postponed to a later run.',
    fields: [...REQUEST_FIELDS, 'attempt', 'parts', 'status', 'ms', 'code', 'reason'],
    sentence: (event) =>
      event.parts === 0
        ? `${requestText(event)}: postponed to a later run: ${event.reason}`
        : `${requestText(event)}: split into ${quantity(event.parts ?? 0, 'smaller window')}: ${event.reason}`,
  },
  'request.failed': {
    level: 'error',
    pretty: 'verbose',
    when: 'A request failed after all retries; the run continues.',
    fields: [...REQUEST_FIELDS, 'attempt', 'status', 'ms', 'rows', 'code', 'reason', 'hint'],
    sentence: (event) => `${requestText(event)}: failed, ${responseText(event)}: ${event.reason}`,
  },
  'calls.paused': {
    level: 'warn',
    selfHealing: true,
    when: 'All calls wait, because the service requested a pause or keeps failing.',
    fields: [...RUN_FIELDS, 'wait_ms', 'reason'],
    sentence: ({ wait_ms, reason }) => `Waiting ${seconds(wait_ms)}: ${reason}`,
  },
  'clock.differs': {
    level: 'warn',
    when: 'The clock of this machine differs from that of the service by more than a minute; once a run.',
    fields: [...RUN_FIELDS, 'reason', 'hint'],
    sentence: ({ reason, hint }) => `${reason} ${hint}`,
  },
  'run.progress': {
    level: 'info',
    when: 'Progress of the run, once a minute if stderr is not a terminal.',
    fields: [
      ...REQUEST_FIELDS,
      'done',
      'total',
      'requests',
      'failed',
      'values_per_second',
      'left_seconds',
      'calls_left',
      'reason',
    ],
    sentence: ({ reason }) => reason ?? '',
  },
  'run.ended': {
    level: 'info',
    pretty: 'verbose',
    when: 'A run ends. Level: info if done, warn if partial or stopped, error if failed.',
    fields: [...RUN_FIELDS, 'outcome', 'ms', 'requests', 'failed', 'bytes', 'rows', 'code', 'reason', 'hint'],
    sentence: ({ job, run, outcome, ms, requests, failed, rows, reason }) =>
      `${job}: run ${run} ${outcome} in ${seconds(ms ?? 0)}, ${quantity(requests ?? 0, 'request')}, ${failed} failed, ${rowsText(rows)}${reason ? `: ${reason}` : ''}`,
  },
  'signal.received': {
    level: 'warn',
    when: 'The process received a stop signal.',
    fields: ['signal', 'reason'],
  },
  'schedule.next': {
    level: 'info',
    when: '`schedule` waits for the next run of a job.',
    fields: ['job', 'at', 'reason'],
  },
  'schedule.waiting': {
    level: 'warn',
    when: 'Another process writes to the database; `schedule` tries again soon.',
    fields: ['job', 'reason'],
  },
  'schedule.failed': {
    level: 'error',
    when: 'A scheduled run was killed or could not start.',
    fields: ['job', ...ERROR],
  },
  'workers.missing': {
    level: 'warn',
    when: '`sync --distributed` waits, because no worker takes its requests.',
    fields: [...RUN_FIELDS, 'total', 'reason', 'hint'],
    sentence: ({ job, reason, hint }) => `${job}: ${reason} ${hint}`,
  },
  'worker.paused': {
    level: 'warn',
    selfHealing: true,
    when: 'The service requested a long pause; the worker retries its requests later.',
    fields: ['job', 'command', 'wait_ms', 'code', 'reason', 'hint'],
    sentence: ({ wait_ms, reason }) => `Retrying in ${seconds(wait_ms)}: ${reason}`,
  },
  'claim.lost': {
    level: 'warn',
    selfHealing: true,
    when: 'Another worker or a new `sync` took over a request; this worker did not load the response.',
    fields: [...REQUEST_FIELDS, 'attempt', 'code', 'reason'],
    sentence: (event) => `${requestText(event)}: ${event.reason}`,
  },
  'claim.failed': {
    level: 'error',
    when: 'A worker could not complete a request; it is retried later.',
    fields: [...REQUEST_FIELDS, 'attempt', ...ERROR],
    sentence: (event) => `${requestText(event)}: failed at attempt ${event.attempt}: ${event.reason}`,
  },
  'database.lost': {
    level: 'warn',
    when: 'The database does not respond; the worker, or `sync --distributed`, keeps trying.',
    fields: ['command', ...ERROR],
    sentence: ({ reason }) => `The database does not respond: ${reason}`,
  },
  'database.back': {
    level: 'info',
    when: 'The database responds again.',
    fields: ['command', 'ms'],
    sentence: ({ ms }) => `The database responds again after ${seconds(ms ?? 0)}.`,
  },
  'lake.synced': {
    level: 'info',
    when: 'The lake of a job is up to date.',
    fields: ['job', 'command', 'ms', 'bytes', 'reason'],
    sentence: ({ reason }) => reason ?? '',
  },
  'lake.failed': {
    level: 'error',
    when: 'The lake of a job could not be updated. The run is then recorded as failed.',
    fields: ['job', 'command', 'code', 'reason', 'hint'],
    sentence: ({ job, reason, hint }) => `${job}: lake: ${reason}${hint ? ` ${hint}` : ''}`,
  },
  'notify.failed': {
    level: 'warn',
    when: 'A notification could not be delivered.',
    fields: ['job', 'reason'],
  },
  'download.done': {
    level: 'info',
    pretty: 'verbose',
    when: 'An archive file was downloaded.',
    fields: ['url', 'ms', 'bytes'],
    sentence: ({ url, ms, bytes }) => `${url}: ${quantity(bytes ?? 0, 'byte')} in ${Math.round(ms ?? 0)} ms`,
  },
  'download.failed': {
    level: 'warn',
    when: 'An archive file could not be downloaded.',
    fields: ['url', 'code', 'reason'],
    sentence: ({ url, reason }) => `${url}: ${reason}`,
  },
  'command.failed': {
    level: 'error',
    when: 'The command failed.',
    fields: ['code', 'reason', 'hint'],
    sentence: ({ reason, hint }) => [reason, ...(hint ? [hint] : [])].join(' → '),
  },
  note: {
    level: 'info',
    when: 'A message without fields; it can have another level.',
    fields: [],
  },
} as const satisfies Record<string, EventDeclaration>

/** The name of an event. */
export type EventName = keyof typeof EVENTS

/** An event: its name and its fields. */
export interface SyncEvent extends EventFields {
  /** The name of the event. */
  readonly event: EventName
}

/** Receives every event. */
export type OnEvent = (event: SyncEvent) => void

/** The declared fields of an event. */
export type FieldsOf<N extends EventName> = Pick<EventFields, (typeof EVENTS)[N]['fields'][number]>

/** Emits an event by its name. Undeclared fields are type errors, even in a spread object. */
export type EmitEvent = <N extends EventName, F extends FieldsOf<N>>(
  name: N,
  fields: F & { readonly [K in Exclude<keyof F, keyof FieldsOf<N>>]: never },
) => void

/** Emits events to a receiver, with `common` fields before those of each event. */
export const createEmitter =
  (onEvent: OnEvent | undefined, common: EventFields = {}): EmitEvent =>
  (event, fields) =>
    onEvent?.({ event, ...common, ...(fields as EventFields) })

const OUTCOMES: Readonly<Partial<Record<RunOutcome, EventDeclaration['level']>>> = {
  partial: 'warn',
  stopped: 'warn',
  failed: 'error',
}

/** The level of an event. */
export const eventLevel = ({ event, outcome }: SyncEvent): EventDeclaration['level'] =>
  (outcome && OUTCOMES[outcome]) ?? EVENTS[event].level

/** An event as a sentence for people. */
export function describeEvent(event: SyncEvent): string {
  const { sentence }: EventDeclaration = EVENTS[event.event]
  return sentence?.(event) ?? [event.job, event.reason].filter((part) => part !== undefined).join(': ')
}

/** Whether a log with these settings shows an event. */
export function isLogged(name: EventName, { isPretty, level }: { isPretty: boolean; level: string }): boolean {
  const declared: EventDeclaration = EVENTS[name]
  if (declared.selfHealing && level === 'warn') return false
  return !isPretty || level === 'debug' || declared.pretty === undefined
}
