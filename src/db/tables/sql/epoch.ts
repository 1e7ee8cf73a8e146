import type { ExpressionBuilder, ExpressionWrapper, ReferenceExpression } from 'kysely'
import type { Instant } from '../../../util/time/instant.ts'

/** The instant that a column holds as text, in UTC. PostgreSQL has the function, too: it is one of the schema `compat`. */
export const epochOf = <DB, TB extends keyof DB>(
  { fn }: ExpressionBuilder<DB, TB>,
  column: ReferenceExpression<DB, TB>,
): ExpressionWrapper<DB, TB, Instant> => fn<Instant>('unixepoch', [column])
