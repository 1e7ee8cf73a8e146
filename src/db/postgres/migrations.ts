import type { Migration } from 'kysely/migration'

/** Every migration of a database on a server, oldest first, in a numbering of their own. */
export const MIGRATIONS: Readonly<Record<string, () => Promise<Migration>>> = {
  '0001_first_schema': () => import('../../../migrations/postgres/0001_first_schema.ts'),
  '0002_workers': () => import('../../../migrations/postgres/0002_workers.ts'),
  '0003_asking': () => import('../../../migrations/postgres/0003_asking.ts'),
  '0004_moments': () => import('../../../migrations/postgres/0004_moments.ts'),
  '0005_texts_filled': () => import('../../../migrations/postgres/0005_texts_filled.ts'),
  '0006_flat_coverage': () => import('../../../migrations/postgres/0006_flat_coverage.ts'),
  '0007_failure_codes': () => import('../../../migrations/postgres/0007_failure_codes.ts'),
  '0008_listing_leases': () => import('../../../migrations/postgres/0008_listing_leases.ts'),
  '0009_clock_once': () => import('../../../migrations/postgres/0009_clock_once.ts'),
}

/** The number of a migration, as its name begins. */
export const numberOf = (name: string): number => Number.parseInt(name, 10)

/** The schema that this program speaks. */
export const SCHEMA_VERSION = Math.max(...Object.keys(MIGRATIONS).map(numberOf))

/** All of them, loaded. */
export const readMigrations = async (): Promise<Record<string, Migration>> =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(MIGRATIONS).map(async ([name, read]) => [name, await read()] satisfies [string, Migration]),
    ),
  )
