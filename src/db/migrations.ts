import type { Migration } from 'kysely/migration'
import * as first from '../../migrations/0001_first_schema.ts'
import * as tape from '../../migrations/0002_tape.ts'
import * as tapeForm from '../../migrations/0003_tape_form.ts'
import * as product from '../../migrations/0004_product.ts'
import * as coverage from '../../migrations/0005_coverage.ts'
import * as trueSteps from '../../migrations/0006_true_steps.ts'
import * as views from '../../migrations/0007_views.ts'
import * as safety from '../../migrations/0008_safety.ts'
import * as selection from '../../migrations/0010_selection.ts'
import * as counts from '../../migrations/0012_counts.ts'
import * as locales from '../../migrations/0013_locales.ts'
import * as days from '../../migrations/0014_days.ts'
import * as truth from '../../migrations/0015_truth.ts'
import * as told from '../../migrations/0016_told.ts'
import * as reasons from '../../migrations/0017_reasons.ts'
import * as dayTotals from '../../migrations/0019_day_totals.ts'
import * as oneSeries from '../../migrations/0020_one_series.ts'

/** Every migration, oldest first. `user_version` of a database is the number of the last one that it has seen. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001_first_schema': first,
  '0002_tape': tape,
  '0003_tape_form': tapeForm,
  '0004_product': product,
  '0005_coverage': coverage,
  '0006_true_steps': trueSteps,
  '0007_views': views,
  '0008_safety': safety,
  '0010_selection': selection,
  '0012_counts': counts,
  '0013_locales': locales,
  '0014_days': days,
  '0015_truth': truth,
  '0016_told': told,
  '0017_reasons': reasons,
  '0019_day_totals': dayTotals,
  '0020_one_series': oneSeries,
}
