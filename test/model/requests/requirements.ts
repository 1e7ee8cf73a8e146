/* What a command must and may request, by series, geo and unit. */
import type { Requirement } from '../judgedState.ts'
import type { SeriesRequest } from '../service.ts'
import type { Interval } from '../units.ts'

/** A unit of a series for one geo or (null) for all. */
export interface SeriesUnit extends Interval {
  readonly key: string
  readonly geo: number | null
}

/** A unit, and whether it is requested. */
export interface RequiredUnit extends SeriesUnit {
  readonly requirement: Requirement
}

/** Required units by `nameOf`. */
export type Requirements = Map<string, RequiredUnit>

const RANK: Readonly<Record<Requirement, number>> = { not: 0, may: 1, must: 2 }

const nameOf = (key: string, geo: number | null, from: number): string => `${key} ${geo} ${from}`

/** Adds a requirement, unless the unit has a stronger one. */
export function addRequirement(requirements: Requirements, added: RequiredUnit): void {
  const name = nameOf(added.key, added.geo, added.from)
  const known = requirements.get(name)
  if (!known || RANK[added.requirement] > RANK[known.requirement]) requirements.set(name, added)
}

/** Returns the strongest requirement of a unit for the geos of a request. */
export function requirementAt(
  requirements: ReadonlyMap<string, RequiredUnit>,
  { key, geos }: SeriesRequest,
  { from }: Pick<Interval, 'from'>,
): Requirement {
  const found = (geos ?? [null]).map((geo) => requirements.get(nameOf(key, geo, from))?.requirement ?? 'not')
  return found.reduce((a, b) => (RANK[b] > RANK[a] ? b : a))
}
