import { z } from 'zod'
import type { Service } from '../../service/service.ts'
import { SERVICES } from '../../service/services.ts'
import { memoize } from '../../util/memoize.ts'
import { NOTIFY_EVENTS, NOTIFY_STYLES } from '../notification.ts'
import { entryParts, languageList } from './entryKeys.ts'
import { checkRules } from './rules.ts'

/** The address is checked by a rule, whose message does not repeat it: it may be a secret. */
const notify = z.strictObject({
  url: z.string().describe('Address, or $NAME of a variable'),
  on: z.array(z.enum(NOTIFY_EVENTS)).min(1).optional().describe('Events to send; default: all but start (pings: all)'),
  style: z.enum(NOTIFY_STYLES).optional().describe('json, or ping as for healthchecks.io; default: by the address'),
})

/** The name of a job. */
export const jobName = z.string().regex(/^[\w.-]{1,64}$/, {
  error: 'is not a valid name; expected up to 64 letters A-Z and a-z, digits, dots, dashes and underscores',
})

/** One address, alone or with its events and style. */
export const notifyEntry = z.union([z.string(), notify])

/** Marks the issue of a broken rule, whose message does not start with the value. */
const RULE = { rule: true }

/** Whether an issue is a broken rule, as opposed to an illegal value. */
export const isRule = (issue: z.core.$ZodIssue): boolean => issue.code === 'custom' && issue.params === RULE

/** The schema of job files for a service, with its rules. */
export const jobFileSchema = memoize((service: Service) =>
  z
    .strictObject({
      name: jobName,
      schedule: z.string().optional().describe('Cron expression in the zone of the job, for `schedule`'),
      timeZone: z
        .string()
        .optional()
        .describe(`Time zone of the job's local days and schedule; default: ${service.timeZone}`),
      locales: languageList(service).optional(),
      keep: z
        .enum(['all', 'latest', 'none'])
        .optional()
        .describe(
          'Which response bodies to keep: all; latest, one per request; none, only those that could not be parsed',
        ),
      newestFirst: z.boolean().optional().describe('Fetch the latest windows first'),
      lake: z.string().min(1).optional().describe('Folder or s3://bucket/name for Parquet, updated after each run'),
      pace: z
        .strictObject({
          perSecond: z.number().positive().max(50).optional().describe('Calls per second; default: 2'),
          concurrency: z.int().min(1).max(16).optional().describe('Concurrent calls; default: 4'),
          callsPerMinute: z.int().positive().optional(),
          callsPerHour: z.int().positive().optional(),
          callsPerDay: z.int().positive().optional(),
        })
        .optional()
        .describe('Pace and budget of calls'),
      notify: z
        .union([z.string(), z.array(notifyEntry).min(1)])
        .optional()
        .describe('Addresses for notifications: one, or a list of { url, on, style }'),
      ...entryParts(service),
    })
    .superRefine(
      (job, context) => {
        const isLegal = (path: readonly PropertyKey[]): boolean =>
          !context.issues.some((issue) => path.every((part, i) => issue.path?.[i] === part))
        checkRules(job, service, {
          isLegal,
          report: (path, message) => context.addIssue({ code: 'custom', path: [...path], message, params: RULE }),
        })
      },
      // Rules are checked beside illegal values, so that all mistakes are reported at once.
      { when: () => true },
    )
    .describe('Job file of indicator-sync'),
)

/** The content of a job file, with durations and moments parsed. */
export type JobFile = z.output<ReturnType<typeof jobFileSchema>>

/** The JSON schema of job files for a service, for editors. */
export const jobSchema = (service: Service = SERVICES.generic): object => ({
  title: 'indicator-sync job',
  ...z.toJSONSchema(jobFileSchema(service), { target: 'draft-7', io: 'input' }),
})
