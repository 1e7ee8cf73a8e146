import { addUnits, floorTo, startOfDate } from '../../src/util/time/zone.ts'
import { json, requestedWindow, type Script, serve } from './kit.ts'

const ZONE = 'Europe/Madrid'
const HOUR = 3_600
const DAY = 86_400

/** A resolution of a generated series: seconds or a calendar unit, and its id in replies. */
export interface Resolution {
  readonly step: number | 'day' | 'month'
  readonly id: number | null
}

/** The true contents of a series: the resolution of each day, and which days have values. */
export interface Truth {
  readonly id: number
  readonly first: string
  readonly days: readonly (Resolution | null)[]
  /** The zone of the service; default: Madrid. */
  readonly zone?: string
  /** Days with an additional row in every reply, half a step after the first one. */
  readonly strays?: readonly number[]
}

export const zoneOf = ({ zone = ZONE }: Pick<Truth, 'zone'>): string => zone

export interface Value {
  readonly at: number
  readonly step: number
  readonly value: number
  readonly id: number | null
  readonly isStray?: boolean
}

/** Returns a local day of a series. */
export const dayOf = (truth: Truth, i: number): number =>
  addUnits(zoneOf(truth), startOfDate(zoneOf(truth), truth.first)!, 'day', i)

/** Returns all true values in order. */
export function valuesOf(truth: Truth): Value[] {
  return truth.days.flatMap((resolution, i) => {
    if (!resolution) return []
    const from = dayOf(truth, i)
    const to = dayOf(truth, i + 1)
    const { step, id } = resolution
    if (typeof step === 'number') {
      const values: Value[] = Array.from({ length: Math.ceil((to - from) / step) }, (_, n) => {
        const at = from + n * step
        return { at, step, id, value: (at / 300) % 9973 }
      })
      return truth.strays?.includes(i)
        ? values.toSpliced(1, 0, { ...values[0]!, at: from + step / 2, isStray: true })
        : values
    }
    const zone = zoneOf(truth)
    if (floorTo(zone, from, step) !== from) return []
    return [{ at: from, step: addUnits(zone, from, step, 1) - from, id, value: (from / DAY) % 991 }]
  })
}

const stamp = (at: number): string => new Date(at * 1000).toISOString().replace('Z', '+00:00')

/** The resolution id of sums over several resolutions. */
const SUMS = 223

/** Responds like the real service: values of one resolution unchanged, otherwise hourly sums. */
function answerOf(truth: Truth, all: readonly Value[], from: number, to: number, emptyId: number) {
  const values = all.filter(({ at }) => at >= from && at < to)
  const kinds = new Set(values.map(({ id, step }) => `${id} ${step > 20 * HOUR ? 'calendar' : step}`))
  const sums = new Map<number, number>()
  for (const { at, value, isStray } of values) {
    const hour = isStray ? at : floorTo(zoneOf(truth), at, 'hour')
    sums.set(hour, (sums.get(hour) ?? 0) + value)
  }
  const rows = kinds.size > 1 ? [...sums].map(([at, value]) => ({ at, value })).sort((a, b) => a.at - b.at) : values
  const id = kinds.size > 1 ? SUMS : (values[0]?.id ?? emptyId)
  return {
    indicator: {
      id: truth.id,
      name: 'x',
      tiempo: id === null ? [] : [{ id, name: kinds.size === 1 && values[0]!.step > 20 * HOUR ? 'Día' : 'Hora' }],
      geos: [],
      values: rows.map(({ at, value }) => ({ value, datetime: stamp(at), geo_id: 3, geo_name: 'España' })),
    },
  }
}

/** The window of a request. */
export interface Question {
  readonly from: number
  readonly to: number
}

/** Serves the current truth. `spoil` may respond instead. */
export async function serveTruth(
  now: () => { readonly truth: Truth; readonly emptyId?: number },
  spoil: (question: Question, ...rest: Parameters<Script>) => boolean = () => false,
) {
  const questions: Question[] = []
  const server = await serve((request, response, call) => {
    const { from, end } = requestedWindow(request)
    const question = { from, to: end + 1 }
    questions.push(question)
    if (spoil(question, request, response, call)) return
    const { truth, emptyId = 4 } = now()
    json(response, answerOf(truth, valuesOf(truth), question.from, question.to, emptyId))
  })
  return { ...server, questions }
}
