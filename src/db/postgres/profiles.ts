/**
 * Engines that speak the protocol of PostgreSQL and divide tables among machines, with the column by which each table is
 * divided. A table that is not named stays whole, on the machine that is asked: tables with triggers and foreign keys are
 * small.
 */
const PROFILES = {
  citus: {
    by: { observation: 'series_id', observation_revision: 'series_id', _day: 'series_id' },
    /** The statement that divides a table; those after the first are placed beside it. */
    divide: (table: string, column: string, beside: string | null): string =>
      `select create_distributed_table('public.${table}', '${column}'${beside === null ? '' : `, colocate_with => 'public.${beside}'`});`,
  },
} as const

/** The name of one. */
export type EngineProfile = keyof typeof PROFILES

/** The statements by which the owner of a migrated database divides it among machines, once. */
export function distribution(name: EngineProfile): string[] {
  const { by, divide } = PROFILES[name]
  const tables = Object.entries(by)
  return tables.map(([table, column], i) => divide(table, column, i === 0 ? null : tables[0]![0]))
}
