import { integerOf, isObject, listOf } from '../base/json.ts'
import { addUnits, fixedSeconds, UNITS, type Unit } from '../base/zone.ts'

/** Resolutions by the service's number for them; its words change, its numbers do not. Source: recorded answers. */
const STEP_BY_ID: Readonly<Record<number, number>> = { 4: 3600, 223: 3600, 218: 900 }

/** Resolutions by word, for numbers that were never seen. */
const STEP_BY_NAME: Readonly<Record<string, number>> = {
  hora: 3600,
  hour: 3600,
  'quince minutos': 900,
  'fifteen minutes': 900,
  'diez minutos': 600,
  'ten minutes': 600,
  'cinco minutos': 300,
  'five minutes': 300,
}

/** The resolution that an answer claims in `tiempo`, in seconds; null when it claims none that is known. */
export function claimedStep(tiempo: unknown): number | null {
  const [first] = listOf(tiempo)
  if (!isObject(first)) return null
  return STEP_BY_ID[Number(first.id)] ?? STEP_BY_NAME[String(first.name).trim().toLowerCase()] ?? null
}

/** The number under which an answer claims its resolution. */
export function claimedId(tiempo: unknown): number | null {
  const [first] = listOf(tiempo)
  return isObject(first) ? integerOf(first.id) : null
}

/** The length in seconds of the bucket that begins at an instant: days, months and years are as long as their local calendar says. */
export function bucketSeconds(zone: string, at: number, timeTrunc: string): number {
  const unit = timeTrunc as Unit
  return fixedSeconds(unit) ?? addUnits(zone, at, unit, 1) - at
}

/** Whether a text is one of the service's grouping steps. */
export const isUnit = (text: string | null): text is Unit => (UNITS as readonly (string | null)[]).includes(text)
