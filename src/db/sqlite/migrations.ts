import type { Migration } from 'kysely/migration'

/**
 * Every migration, oldest first, loaded when a database has not seen it. `user_version` of a database is the number of the
 * last one that it has seen.
 */
export const MIGRATIONS: Readonly<Record<string, () => Promise<Migration>>> = {
  '0001_first_schema': () => import('../../../migrations/0001_first_schema.ts'),
  '0002_tape': () => import('../../../migrations/0002_tape.ts'),
  '0003_tape_form': () => import('../../../migrations/0003_tape_form.ts'),
  '0004_product': () => import('../../../migrations/0004_product.ts'),
  '0005_coverage': () => import('../../../migrations/0005_coverage.ts'),
  '0006_true_steps': () => import('../../../migrations/0006_true_steps.ts'),
  '0007_views': () => import('../../../migrations/0007_views.ts'),
  '0008_safety': () => import('../../../migrations/0008_safety.ts'),
  '0010_selection': () => import('../../../migrations/0010_selection.ts'),
  '0012_counts': () => import('../../../migrations/0012_counts.ts'),
  '0013_locales': () => import('../../../migrations/0013_locales.ts'),
  '0014_days': () => import('../../../migrations/0014_days.ts'),
  '0015_truth': () => import('../../../migrations/0015_truth.ts'),
  '0016_told': () => import('../../../migrations/0016_told.ts'),
  '0017_reasons': () => import('../../../migrations/0017_reasons.ts'),
  '0019_day_totals': () => import('../../../migrations/0019_day_totals.ts'),
  '0020_one_series': () => import('../../../migrations/0020_one_series.ts'),
  '0022_daily_view': () => import('../../../migrations/0022_daily_view.ts'),
  '0024_own_range': () => import('../../../migrations/0024_own_range.ts'),
  '0025_portable_views': () => import('../../../migrations/0025_portable_views.ts'),
  '0026_texts_filled': () => import('../../../migrations/0026_texts_filled.ts'),
  '0027_flat_coverage': () => import('../../../migrations/0027_flat_coverage.ts'),
  '0028_failure_codes': () => import('../../../migrations/0028_failure_codes.ts'),
}

/** All of them, loaded. */
export const readMigrations = async (): Promise<Record<string, Migration>> =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(MIGRATIONS).map(async ([name, read]) => [name, await read()] satisfies [string, Migration]),
    ),
  )
