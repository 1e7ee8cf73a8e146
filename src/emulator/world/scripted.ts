import { HOUR, type Instant } from '../../util/time/instant.ts'
import { addUnits, ceilTo, floorTo, type Unit } from '../../util/time/zone.ts'
import type { Point } from './generatedValues.ts'
import { noise } from './noise.ts'
import type { Action, Script, ScriptedResolution } from './script.ts'
import { NATIVE_STEPS, type Tiempo, type ValueSource } from './valueSource.ts'
import { EMULATED_ZONE, type World } from './world.ts'

const FAR = 2 ** 43

const UNIT_STEPS: Readonly<Record<string, Tiempo>> = {
  day: ['Día', 'Day', 2],
  month: ['Mes', 'Month', 3],
  year: ['Año', 'Year', 1],
  irregular: ['Evento', 'Event', 300],
}

/** A resolution with its end. */
interface ActiveResolution extends ScriptedResolution {
  readonly to: Instant
}

function resolutionsAt(script: Script, now: Instant): readonly ActiveResolution[] {
  const rewritten = script.actions?.findLast((action) => action.do === 'resolve' && action.at <= now)
  const resolutions = rewritten?.do === 'resolve' ? rewritten.resolutions : script.resolutions
  return resolutions.map((resolution, i) => ({ ...resolution, to: resolutions[i + 1]?.from ?? FAR }))
}

/** The instants within [from, to) at which a resolution has a period, or an event. */
function* periodStarts({ every }: ScriptedResolution, from: Instant, to: Instant, salt: number): Generator<Instant> {
  if (typeof every === 'number') {
    for (let at = Math.ceil(from / every) * every; at < to; at += every) yield at
  } else if (every === 'irregular') {
    for (let hour = Math.floor(from / HOUR); hour * HOUR < to; hour++) {
      const chance = noise(salt, hour)
      const at = hour * HOUR + Math.floor((chance + 1) * 30) * 60
      if (chance < 0.2 && at >= from && at < to) yield at
    }
  } else {
    for (let at = ceilTo(EMULATED_ZONE, from, every); at < to; at = addUnits(EMULATED_ZONE, at, every, 1)) yield at
  }
}

const concerns = (action: Action, geo: number, at: Instant): boolean =>
  action.do !== 'resolve' &&
  at >= action.from &&
  at < action.to &&
  (action.geos === undefined || action.geos.includes(geo))

/** Whether a value exists, by its last action so far. Before any action it exists, unless the first one publishes it. */
function doesValueExist(actions: readonly Action[], geo: number, at: Instant, now: Instant): boolean {
  const actionsOfValue = actions
    .filter((action) => action.do !== 'revise' && concerns(action, geo, at))
    .sort((a, b) => a.at - b.at)
  const last = actionsOfValue.findLast((action) => action.at <= now)
  return last ? last.do === 'publish' : actionsOfValue[0]?.do !== 'publish'
}

/** The sum of all revisions of a value so far. */
const revisedBy = (actions: readonly Action[], geo: number, at: Instant, now: Instant): number =>
  actions.reduce(
    (sum, action) =>
      action.do === 'revise' && action.at <= now && concerns(action, geo, at) ? sum + (action.by ?? 1) : sum,
    0,
  )

const stepName = ({ every, tiempo }: ScriptedResolution): Tiempo => {
  const [es, en, id] = (typeof every === 'number' ? NATIVE_STEPS[every] : UNIT_STEPS[every]) ?? [
    'Periodo',
    'Period',
    301,
  ]
  return [es, en, tiempo ?? id]
}

/** The source of a scripted series. */
export function scriptedSource(script: Script, { seed, now }: World): ValueSource {
  const { id, name = `Serie ${id}`, magnitude = [13, 'Energía'] as const, lag = 0, actions = [] } = script
  const active = resolutionsAt(script, now)
  const within = (from: Instant, to: Instant): ActiveResolution[] =>
    active
      .map((resolution) => ({
        ...resolution,
        from: Math.max(from, resolution.from),
        to: Math.min(to, resolution.to, now - lag + 1),
      }))
      .filter((resolution) => resolution.from < resolution.to)
  const resolutionAt = (at: Instant): ActiveResolution => active.findLast(({ from }) => from <= at) ?? active[0]!
  const salt = seed * 1_000_003 + id
  const periodLength = (every: ScriptedResolution['every']): number => {
    if (typeof every === 'number') return every
    return every === 'irregular' ? HOUR : 82_800
  }
  return {
    about: { id, es: name, en: name, short: name, magnitude },
    geos: script.geos,
    most: (from, to) =>
      within(from, to).reduce(
        (sum, resolution) => sum + (resolution.to - resolution.from) / periodLength(resolution.every),
        0,
      ),
    points(geos, from, to) {
      const points: Point[] = []
      for (const resolution of within(from, to))
        for (const at of periodStarts(resolution, resolution.from, resolution.to, salt))
          for (const geo of geos)
            if (doesValueExist(actions, geo, at, now)) {
              const chance = 50 + 40 * noise(seed, id, geo, at, periodLength(resolution.every))
              const value = chance + revisedBy(actions, geo, at, now)
              points.push({ at, geo, value: Math.round(value * 100) / 100 + 0 })
            }
      return points
    },
    nativeAt(at, values) {
      if (values.length > 0) return stepName(resolutionAt(values[0]!.at))
      const native = stepName(resolutionAt(at))
      return [native[0], native[1], script.emptyTiempo ?? native[2]]
    },
    changes: (_from, _to, values) =>
      values.length > 0 && resolutionAt(values[0]!.at) !== resolutionAt(values.at(-1)!.at),
    updated(values) {
      const first = values[0]!.at
      const last = values.at(-1)!.at
      const relevant = actions.filter(
        (action) => action.at <= now && (action.do === 'resolve' || (action.from <= last && action.to > first)),
      )
      return Math.min(now, Math.max(last + lag, ...relevant.map(({ at }) => at)))
    },
    floor(at) {
      const { every } = resolutionAt(at)
      if (typeof every === 'number') return Math.floor(at / every) * every
      return every === 'irregular' ? at : floorTo(EMULATED_ZONE, at, every as Unit)
    },
  }
}
