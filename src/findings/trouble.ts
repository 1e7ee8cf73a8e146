import type { NamedSeries } from '../db/engine.ts'
import type { GapReason } from '../db/tables/codes.ts'
import type { OpenFailureRow } from '../state/failedRequests.ts'
import type { IncompleteRun } from '../state/lastRuns.ts'
import type { Rhythm } from '../state/rhythm.ts'
import type { StoredJob } from '../state/storedJobs.ts'
import type { Instant } from '../util/time/instant.ts'
import type { Interval } from '../util/time/interval.ts'
import type { FindingKind } from './finding.ts'

/* What finders find: facts of one kind, without words and commands. */

/** The missing data of a series, for one reason and job. */
export interface MissingData<Reason extends GapReason = GapReason> extends NamedSeries {
  readonly reason: Reason
  readonly geoIds: readonly number[]
  readonly timeZone: string
  /** From the start of the first gap to the end of the last one. */
  readonly range: Interval
  /** The number of gaps. */
  readonly count: number
  /** The number of missing periods; null if it is not known. */
  readonly periods: number | null
  /** Seconds of missing data of all geos. */
  readonly seconds: number
  readonly sinceAt: Instant | null
  /** The earliest next request; null if no sync requests it. */
  readonly nextAt: Instant | null
  /** The first job whose windows have it; null if none has. */
  readonly jobId: number | null
}

/** Missing data that is a finding of the kind `gap`: late series, and series without any value, are other kinds. */
export type GapData = MissingData<Exclude<GapReason, 'late' | 'no values'>>

/** A geo with its name, if it is known. */
export interface NamedGeo {
  readonly id: number
  readonly name: string | null
}

/** Selected geos of a series for which the service never sent a value. */
export interface LackingGeos extends NamedSeries {
  /** Geos without any value; empty if the series has no values at all. */
  readonly geoIds: readonly number[]
  /** The geos for which the series has values. */
  readonly stored: readonly NamedGeo[]
  /** The geos for which other series of the indicator have values. */
  readonly elsewhere: readonly NamedGeo[]
  /** The first job that selects them; null if none does. */
  readonly job: string | null
  readonly jobId: number | null
  readonly sinceAt: Instant | null
}

/** Open quarantine entries of one series or listing, as its last reply has them. */
export interface RejectedReply {
  readonly fetchId: number
  readonly runId: number
  /** Null for a listing. */
  readonly series: NamedSeries | null
  readonly target: string
  /** The id of the first entry. */
  readonly entryId: number
  /** The number of different entries, and of the replies that had them. */
  readonly entries: number
  readonly replies: number
  /** The reason of an entry, and its place in the body. */
  readonly reason: string
  readonly path: string
}

/** Days of a series with values that do not fit, and the geos of these values. */
interface AffectedDays extends NamedSeries {
  readonly geoIds: readonly number[]
  /** The first and the last local day. */
  readonly days: readonly [first: string, last: string]
  /** The number of values or days. */
  readonly count: number
}

/** Values of a series for times that its source should not know yet, by geo. */
interface AheadValues extends NamedSeries {
  readonly geoIds: readonly number[]
  readonly timeZone: string
  /** From the last credible instant to the end of the last period. */
  readonly range: Interval
  /** The most seconds that the series was ahead of its requests before; not positive if it never was. */
  readonly usualS: number
}

/** A change of a series to longer periods. */
export interface CoarserCadence extends NamedSeries {
  readonly geoIds: readonly number[]
  readonly at: string
  readonly oldStepS: number
  readonly newStepS: number
  readonly sinceAt: Instant
}

/** An id that the service uses for something else now: the names and units before and after. */
export interface ChangedMeaning {
  readonly kind: string
  readonly id: number
  readonly from: Instant
  readonly oldName: string | null
  readonly oldUnit: string | null
  readonly name: string | null
  readonly unit: string | null
  readonly sinceAt: Instant
}

/** Facts that a finder has put into words: what they are about, and what is wrong with it. */
interface DescribedFacts {
  readonly subject: string
  readonly what: string
}

/** The facts of each kind of finding. */
interface Facts {
  readonly 'job file': { readonly job: StoredJob; readonly isRequired: boolean; readonly isNamed: boolean }
  readonly 'same name': { readonly named: readonly StoredJob[] }
  readonly alternating: { readonly job: StoredJob }
  readonly clock: { readonly runs: number; readonly latest: Instant }
  readonly key: { readonly runs: readonly IncompleteRun[] }
  readonly 'service down': { readonly runs: readonly IncompleteRun[] }
  readonly 'last run': { readonly runs: readonly IncompleteRun[] }
  readonly unfinished: { readonly run: IncompleteRun; readonly nextRunAt: Instant | null }
  readonly 'never run': { readonly job: StoredJob }
  readonly 'no run': { readonly rhythm: Rhythm }
  readonly 'not judged': { readonly series: number }
  readonly 'unknown id': { readonly failures: readonly OpenFailureRow[]; readonly nextAt: Instant }
  readonly failure: { readonly failures: readonly OpenFailureRow[] }
  readonly quarantine: { readonly reply: RejectedReply }
  readonly geo: { readonly lacking: LackingGeos }
  readonly 'no values': { readonly lacking: LackingGeos }
  readonly late: { readonly gaps: readonly MissingData<'late'>[] }
  readonly gap: { readonly gaps: readonly GapData[] }
  readonly 'off the grid': { readonly days: AffectedDays }
  readonly ahead: { readonly ahead: AheadValues }
  readonly 'cadence changed': { readonly change: CoarserCadence }
  readonly 'id changed meaning': { readonly meaning: ChangedMeaning }
  readonly overlap: { readonly days: AffectedDays }
  readonly 'out of range': DescribedFacts & { readonly geoIds: readonly number[] }
  readonly reference: DescribedFacts
  readonly 'daily totals': {
    readonly timeline: NamedSeries & { readonly geo_id: number }
    readonly dates: readonly string[]
  }
}

interface CommonFacts {
  readonly sinceAt: Instant | null
  readonly jobIds: readonly number[]
  readonly seriesIds: readonly number[]
  /** A word for scripts; see `Finding.cause`. */
  readonly cause: string | null
}

/** Facts of one kind, or of one of several kinds, and what they are about. */
export type TroubleOf<K extends FindingKind> = {
  readonly [P in K]: { readonly kind: P } & Facts[P] & CommonFacts
}[K]

/** Facts of any kind, and what they are about. */
export type Trouble = TroubleOf<FindingKind>

/** A trouble, and those that follow from it. */
export interface RootTrouble {
  readonly trouble: Trouble
  readonly consequences: readonly Trouble[]
}
