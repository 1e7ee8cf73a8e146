import type { ExpressionBuilder } from 'kysely'
import type { Database } from '../tables/schema.ts'

/** The command of a run that records that a job no longer exists. */
export const FORGET = 'forget'

/** Whether the job of a run `r` was not forgotten after that run. */
export const isNotForgotten = (of: ExpressionBuilder<Database & { r: Database['_run'] }, 'r'>) =>
  of.not(
    of.exists(
      of
        .selectFrom('_run as later')
        .select('later.id')
        .whereRef('later.job', '=', 'r.job')
        .whereRef('later.id', '>', 'r.id')
        .where('later.command', '=', FORGET),
    ),
  )
