import { z } from 'zod'
import type { Service } from '../../services/service.ts'
import { NOTIFY_EVENTS, NOTIFY_STYLES } from '../notify.ts'
import { entryParts, languageList } from './entryKeys.ts'
import { brokenRules } from './rules.ts'

/** The address is checked by a rule, whose message does not repeat it: it may be a secret. */
const notify = z.strictObject({
  url: z.string().describe('An address, or $NAME for a variable that holds one'),
  on: z
    .array(z.enum(NOTIFY_EVENTS))
    .min(1)
    .optional()
    .describe('Only this; all but start when left out, and with pings that, too'),
  style: z
    .enum(NOTIFY_STYLES)
    .optional()
    .describe('ping is the way of healthchecks.io; chosen by the address when left out'),
})

/** Marks the issue of a broken rule: it is about the key, and its message needs no value before it. */
const RULE = { rule: true }

/** Whether an issue is a broken rule, rather than an illegal value. */
export const isRule = (issue: z.core.$ZodIssue): boolean => issue.code === 'custom' && issue.params === RULE

/** A job file as it is written, for a service, with its rules. */
function schemaFor(service: Service) {
  return z
    .strictObject({
      name: z
        .string()
        .regex(/^[\w.-]{1,64}$/, { error: 'is not a name; legal: letters, digits, dots, dashes, at most 64' }),
      extends: z.string().min(1).optional().describe('Another job file whose keys hold where this one says nothing'),
      schedule: z.string().optional().describe('A cron expression in the job’s time zone, for `schedule`'),
      timeZone: z
        .string()
        .optional()
        .describe(
          `The zone in which the dates and spans of this file and its schedule are meant; ${service.timeZone} when left out`,
        ),
      locales: languageList(service).optional(),
      keep: z
        .enum(['all', 'latest', 'none'])
        .optional()
        .describe('Which reply bodies stay in the database; all when left out'),
      newestFirst: z.boolean().optional().describe('The latest windows of all series are requested first'),
      lake: z
        .string()
        .min(1)
        .optional()
        .describe(
          'A folder, or s3://bucket/name, in which the rows are kept as Parquet, brought up to date after each run',
        ),
      pace: z
        .strictObject({
          perSecond: z.number().positive().max(50).optional().describe('Calls a second; 2 when left out'),
          concurrency: z.int().min(1).max(16).optional().describe('Calls at a time; 4 when left out'),
          callsPerMinute: z.int().positive().optional(),
          callsPerHour: z.int().positive().optional(),
          callsPerDay: z.int().positive().optional(),
        })
        .optional()
        .describe('How gently the service is called'),
      notify: z
        .union([z.string(), z.array(z.union([z.string(), notify])).min(1)])
        .optional()
        .describe('Who is notified of the outcome of a run: an address, or a list of { url, on, style }'),
      ...entryParts(service),
    })
    .superRefine(
      (job, context) => {
        const isLegal = (path: readonly PropertyKey[]): boolean =>
          !context.issues.some((issue) => path.every((part, i) => issue.path?.[i] === part))
        for (const { path, message } of brokenRules(job, service, isLegal))
          context.addIssue({ code: 'custom', path: [...path], message, params: RULE })
      },
      // Rules are checked beside illegal values, so that all mistakes are reported at once.
      { when: () => true },
    )
    .describe('A job of indicator-sync')
}

const schemas = new WeakMap<Service, ReturnType<typeof schemaFor>>()

/** The schema of job files for a service; made once. */
export function jobFileOf(service: Service): ReturnType<typeof schemaFor> {
  const known = schemas.get(service) ?? schemaFor(service)
  schemas.set(service, known)
  return known
}

/** The content of a job file, with spans and moments parsed. */
export type JobFile = z.output<ReturnType<typeof schemaFor>>
