/* The smallest part that the rules decide: a unit of an entry, for one geo or for all. */
import type { JudgedState } from '../judgedState.ts'
import type { SeriesTruth } from '../oracle.ts'
import type { Scene } from '../scene.ts'
import type { Interval } from '../units.ts'
import type { ResolvedEntry } from '../world.ts'

/** A unit of an entry for one geo or (null) for all, as it is before a command. */
export interface EntryUnit {
  readonly scene: Scene
  readonly truth: SeriesTruth
  readonly entry: ResolvedEntry
  readonly unit: Interval
  readonly geo: number | null
  readonly judged: JudgedState
}
