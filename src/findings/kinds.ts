import type { FindingKind } from './finding.ts'
import type { KindRules } from './kindRules.ts'
import { ahead } from './kinds/ahead.ts'
import { changedMeaning } from './kinds/changedMeaning.ts'
import { clock } from './kinds/clock.ts'
import { coarserCadence } from './kinds/coarserCadence.ts'
import { dailyTotals } from './kinds/dailyTotals.ts'
import { alternating, jobFile, neverRun, noRun, sameName } from './kinds/jobs.ts'
import { geo, noValues } from './kinds/lackingGeos.ts'
import { gap, late } from './kinds/missingData.ts'
import { notJudged } from './kinds/notJudged.ts'
import { offTheGrid } from './kinds/offTheGrid.ts'
import { outOfRange } from './kinds/outOfRange.ts'
import { overlap } from './kinds/overlap.ts'
import { quarantine } from './kinds/quarantine.ts'
import { reference } from './kinds/reference.ts'
import { failure, unknownId } from './kinds/requests.ts'
import { key, lastRun, serviceDown, unfinished } from './kinds/runs.ts'
import type { Trouble } from './trouble.ts'

/** The rules of each kind of finding. */
const KINDS = {
  'job file': jobFile,
  'same name': sameName,
  alternating,
  clock,
  key,
  'service down': serviceDown,
  'last run': lastRun,
  unfinished,
  'never run': neverRun,
  'no run': noRun,
  'not judged': notJudged,
  'unknown id': unknownId,
  failure,
  quarantine,
  geo,
  'no values': noValues,
  late,
  gap,
  'off the grid': offTheGrid,
  ahead,
  'cadence changed': coarserCadence,
  'id changed meaning': changedMeaning,
  overlap,
  'out of range': outOfRange,
  reference,
  'daily totals': dailyTotals,
} satisfies { readonly [K in FindingKind]: KindRules<K> }

/** The rules of a kind. They take any trouble: `KINDS` has proved that each takes the troubles of its own kind. */
export const kindRules = ({ kind }: Pick<Trouble, 'kind'>) => KINDS[kind] as KindRules<FindingKind>
