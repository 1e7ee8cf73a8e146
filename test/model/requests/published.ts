/* What the scripts of the service publish of a series. */
import type { Script } from '../../../src/emulator/world/script.ts'
import { DAY } from '../calendar.ts'
import type { Scene } from '../scene.ts'
import { resolutionAt } from '../service.ts'

/** Returns the script of a series by its key, if the service knows it. */
export function scriptOf({ scripts }: Pick<Scene, 'scripts'>, key: string): Script | undefined {
  const [kind, id] = JSON.parse(key) as [string, number]
  return scripts.find((one) => one.id === id && (one.kind ?? 'indicator') === kind)
}

/** The shortest length of the periods of an aggregation over time, in seconds. */
const SHORTEST: Readonly<Record<string, number>> = { hour: 3600, day: 23 * 3600, month: 28 * DAY }

/** Whether a series has a value for each period, unlike events and the hours of monthly series. */
export function hasEveryPeriod(scene: Scene, key: string, trunc: string | null, at = scene.now): boolean {
  const script = scriptOf(scene, key)
  const every = script && resolutionAt(script, at, at).every
  if (every === undefined || every === 'irregular') return false
  return trunc === null || (typeof every === 'number' && every <= (SHORTEST[trunc] ?? 0))
}

/** Whether the periods of a series are months or longer. */
export function isMonthly(scene: Scene, key: string): boolean {
  const script = scriptOf(scene, key)
  return script !== undefined && ['month', 'year'].includes(String(resolutionAt(script, scene.now, scene.now).every))
}
