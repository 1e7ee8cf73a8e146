import type { CadenceKind } from '../db/tables/series.ts'
import { modulo } from '../util/modulo.ts'
import { type DayStep, WHOLE_DAY } from '../util/time/dayStep.ts'
import { DAY, EARLIEST, type Instant } from '../util/time/instant.ts'
import { type DayNumber, localDay, toCivil } from '../util/time/localDay.ts'
import { isCalendarStep } from '../util/time/periods.ts'
import { offsetAt } from '../util/time/zone.ts'
import { type Grid, isOnGrid, normalizeGrid, periodEnd } from './grid.ts'
import { CHANGED_DAYS, CHANGED_PERIODS, DAILY_DAYS, REGULAR_DAYS, REGULAR_PERIODS } from './limits.ts'

/*
 * Which periods a timeline (a series and geo) publishes: a pure function of its stored values, of announced changes and of the
 * job's `expect`. Recomputing it gives the same result, whatever the order in which the values were loaded. The rules are numbered in
 * docs/decisions/001-coverage.md.
 */

/** The values of a local day, as far as the cadence depends on them. Days without values have none. */
export interface DayShape {
  readonly day: DayNumber
  /** The finest step of which the day holds seven eighths of the periods; null if it holds none. */
  readonly step: number | null
  /** Local seconds from a border of that step to its periods. */
  readonly offset: number
}

/** The shape of a stored day. */
export const toShape = (day: DayNumber, { step, offset }: Pick<DayStep, 'step' | 'offset'>): DayShape => ({
  day,
  step,
  offset: modulo(offset ?? 0, DAY),
})

/** What else decides a cadence. */
export interface CadenceInput {
  readonly zone: string
  /** The step by which the service grouped the values, in seconds; null for native values. */
  readonly grouped: number | null
  /** Days from which the service announced another step, in order. */
  readonly announced: readonly DayNumber[]
  /** What the job expects instead of the judgement: a step in seconds, or `irregular`. */
  readonly expect: number | 'irregular' | null
}

/** A part of a timeline with one cadence. It ends where the next one begins; the first also holds before its first value. */
export interface Stretch {
  readonly from: Instant
  readonly kind: CadenceKind
  /** The periods of a regular stretch; null for others. */
  readonly grid: Grid | null
}

/** The start of the first stretch. */
export const ALWAYS: Instant = EARLIEST

/** A sequence of days with the same step and offset, each of which follows the other. */
interface Run {
  readonly step: number
  readonly offset: number
  readonly first: number
  /** Index of the last day. */
  last: number
}

/** Days of one cadence: those from `first` to `last` (indexes), and whether they decide about days beside them. */
interface Block {
  readonly step: number
  readonly offset: number
  readonly first: number
  readonly last: number
}

/** Finds the stretches of a timeline. Borders between them are those of days; `refineBorders` moves them into a day. */
export function findStretches(days: readonly DayShape[], input: CadenceInput): Stretch[] {
  return findGrids(days, input).map(({ grid, ...stretch }) => ({
    ...stretch,
    grid: grid && normalizeGrid(grid, input.zone),
  }))
}

function findGrids(days: readonly DayShape[], { zone, grouped, announced, expect }: CadenceInput): Stretch[] {
  // C9: the job knows better.
  if (expect === 'irregular') return [{ from: ALWAYS, kind: 'irregular', grid: null }]
  if (expect !== null) return [regular(ALWAYS, expectedGrid(days, zone, expect))]
  const shapes = grouped === null ? days : days.map((day) => ofStep(day, grouped))
  const runs = findRuns(shapes)
  // C2: seven consecutive days anywhere make the whole timeline regular.
  if (!runs.some(({ first, last }) => last - first + 1 >= REGULAR_DAYS)) return sparseStretches(shapes, zone)
  const grids = new Array<{ readonly step: number; readonly offset: number }>(shapes.length)
  let previous: { readonly step: number; readonly offset: number } | null = null
  for (const part of splitAt(shapes, announced)) {
    assignSteps(shapes, part, previous, grids)
    previous = grids[part.end - 1] ?? previous
  }
  return joinDays(shapes, grids, zone)
}

const regular = (from: Instant, grid: Grid): Stretch => ({ from, kind: 'regular', grid })

/** The day without its step if it is not the one by which the service grouped. */
const ofStep = (day: DayShape, step: number): DayShape => {
  const isSame = day.step === step || (isCalendarStep(step) && day.step !== null && isCalendarStep(day.step))
  return isSame ? day : { ...day, step: null }
}

/** The grid of an expected step, at the offset of most days that hold it; else at midnight. */
function expectedGrid(days: readonly DayShape[], zone: string, step: number): Grid {
  const offsets = new Map<number, number>()
  let [best, most] = [0, 0]
  let day = days[0]?.day ?? 0
  for (const shape of days) {
    if (shape.step === null || (shape.step !== step && !(isCalendarStep(step) && isCalendarStep(shape.step)))) continue
    const count = (offsets.get(shape.offset) ?? 0) + 1
    offsets.set(shape.offset, count)
    if (count > most) [best, most, day] = [shape.offset, count, shape.day]
  }
  return { step, anchor: anchorOf(zone, day, best) }
}

/** The instant of a local time of a day, in seconds since midnight. */
const anchorOf = (zone: string, day: DayNumber, offset: number): Instant => {
  const { from } = localDay(zone, day)
  // The start of the day may be a clock change, after midnight.
  return from + modulo(offset - (from + offsetAt(zone, from)), DAY)
}

/** Groups consecutive days with the same step. */
function findRuns(days: readonly DayShape[]): Run[] {
  const runs: Run[] = []
  let run: Run | undefined
  for (const [i, { day, step, offset }] of days.entries()) {
    if (step === null) {
      run = undefined
      continue
    }
    if (run && run.step === step && run.offset === offset && days[i - 1]!.day === day - 1) run.last = i
    else {
      run = { step, offset, first: i, last: i }
      runs.push(run)
    }
  }
  return runs
}

interface Part {
  readonly begin: number
  readonly end: number
}

/** Splits days where the service announced another step: what is native on one side shows nothing about the other (C5). */
function splitAt(days: readonly DayShape[], announced: readonly DayNumber[]): Part[] {
  const borders = announced.map((change) => days.findIndex(({ day }) => day >= change)).filter((index) => index > 0)
  const all = [0, ...new Set(borders.sort((a, b) => a - b)), days.length]
  return all.slice(0, -1).map((begin, i) => ({ begin, end: all[i + 1]! }))
}

/**
 * C4 and C5: the step of every day of a part. Long blocks of one step are native; so is a finer day. A coarser day beside a finer
 * block lost values.
 */
function assignSteps(
  days: readonly DayShape[],
  { begin, end }: Part,
  previous: { readonly step: number; readonly offset: number } | null,
  grids: { readonly step: number; readonly offset: number }[],
): void {
  const own = days.slice(begin, end)
  const runs = findRuns(own)
  const blocks = findBlocks(own, runs)
  const fallback = blocks.length === 0 ? (finest(runs) ?? previous ?? finest(findRuns(days))!) : null
  let left = -1
  for (const [i, { step, offset }] of own.entries()) {
    while (blocks[left + 1] && blocks[left + 1]!.first <= i) left++
    const before = blocks[left]
    const after = blocks[left + 1]
    const isInside = before !== undefined && i <= before.last
    const base = fallback ?? (isInside || !after ? before! : !before || after.step < before.step ? after : before)
    // A day in which values were lost shows no step. Between a coarse block and a finer one, `refineBorders` finds the change.
    const beside = step === null && before && !isInside ? before : base
    grids[begin + i] = step !== null && step < base.step ? { step, offset } : beside
  }
}

/** The finest step of the longest runs: of those with seven days, else of all. */
function finest(runs: readonly Run[]): Run | undefined {
  const long = runs.filter(({ first, last }) => last - first + 1 >= REGULAR_DAYS)
  return (long.length > 0 ? long : runs).reduce<Run | undefined>(
    (best, run) =>
      !best || run.step < best.step || (run.step === best.step && lengthOf(run) > lengthOf(best)) ? run : best,
    undefined,
  )
}

const lengthOf = ({ first, last }: Pick<Run, 'first' | 'last'>): number => last - first + 1

/**
 * The blocks that decide about days beside them: at least fourteen consecutive days. A block of the finest step may contain days with
 * lost values, even some that look coarser.
 */
function findBlocks(days: readonly DayShape[], runs: readonly Run[]): Block[] {
  const finestStep = finest(runs)?.step
  const blocks: Block[] = []
  const grow = (block: FineBlock, run: Run): FineBlock | null =>
    block.offset === run.offset
      ? { ...block, last: run.last, held: block.held + lengthOf(run), longest: Math.max(block.longest, lengthOf(run)) }
      : null
  let fine: FineBlock | null = null as FineBlock | null
  const spanOf = ({ first, last }: Pick<Run, 'first' | 'last'>): number => days[last]!.day - days[first]!.day + 1
  const isLong = (block: FineBlock): boolean => block.longest >= REGULAR_DAYS && spanOf(block) >= CHANGED_DAYS
  for (const run of runs) {
    const length = lengthOf(run)
    if (run.step !== finestStep) {
      if (length < CHANGED_DAYS) continue
      if (fine && isLong(fine)) blocks.push(fine)
      fine = null
      blocks.push(run)
      continue
    }
    const grown = fine && grow(fine, run)
    if (grown && grown.held * 4 >= spanOf(grown) * 3) {
      fine = grown
      continue
    }
    if (fine && isLong(fine)) blocks.push(fine)
    fine = { ...run, held: length, longest: length }
  }
  if (fine && isLong(fine)) blocks.push(fine)
  return blocks
}

/** A block that grows. `held`: its days with the step. `longest`: its longest run. */
interface FineBlock extends Block {
  readonly held: number
  readonly longest: number
}

/** Joins neighbouring days with the same grid to stretches. */
function joinDays(
  days: readonly DayShape[],
  grids: readonly { readonly step: number; readonly offset: number }[],
  zone: string,
): Stretch[] {
  const stretches: Stretch[] = []
  let last: { readonly step: number; readonly offset: number } | undefined
  for (const [i, grid] of grids.entries()) {
    if (last && last.step === grid.step && last.offset === grid.offset) continue
    const { day } = days[i]!
    const from = stretches.length === 0 ? ALWAYS : localDay(zone, day).from
    stretches.push(regular(from, { step: grid.step, anchor: anchorOf(zone, day, grid.offset) }))
    last = grid
  }
  return stretches
}

/** The stretches of a timeline without seven whole days: weeks and longer periods (C1), a value every day (C3), or events. */
function sparseStretches(days: readonly DayShape[], zone: string): Stretch[] {
  const calendar = findCalendarGrid(days, zone)
  if (calendar) return [regular(ALWAYS, calendar)]
  let run = 0
  for (const [i, { day }] of days.entries()) {
    run = i > 0 && days[i - 1]!.day === day - 1 ? run + 1 : 1
    if (run >= DAILY_DAYS) return [{ from: ALWAYS, kind: 'daily', grid: null }]
  }
  return [{ from: ALWAYS, kind: 'irregular', grid: null }]
}

/** Calendar units, with the distance of two days in this unit; null if it is no whole number. */
const CALENDAR_DISTANCES: readonly {
  readonly step: number
  readonly isNext: (a: DayNumber, b: DayNumber) => boolean
}[] = [
  { step: 7 * DAY, isNext: (a, b) => b - a === 7 },
  ...[1, 3, 12].map((months) => ({
    step: months === 12 ? 365 * DAY : months === 3 ? 91 * DAY : 30 * DAY,
    isNext: (a: DayNumber, b: DayNumber): boolean => {
      const [first, second] = [toCivil(a), toCivil(b)]
      return second.month - first.month === months && second.dayOfMonth === first.dayOfMonth
    },
  })),
]

/** C1: the finest unit of a week or longer of which three consecutive periods have a value. */
function findCalendarGrid(days: readonly DayShape[], zone: string): Grid | null {
  const singles = days.filter(({ step }) => step !== null && isCalendarStep(step))
  if (singles.length * 8 < days.length * 7) return null
  for (const { step, isNext } of CALENDAR_DISTANCES) {
    let run = 1
    for (let i = 1; i < singles.length; i++) {
      const [a, b] = [singles[i - 1]!, singles[i]!]
      run = isNext(a.day, b.day) && a.offset === b.offset ? run + 1 : 1
      if (run >= REGULAR_PERIODS) return { step, anchor: anchorOf(zone, b.day, b.offset) }
    }
  }
  return null
}

/** The instants of the values of some days, in order. */
export type ValuesAround = (border: Instant) => readonly Instant[]

/**
 * Moves borders between two regular stretches to the period at which the step changes, if that is inside a day. `values` are those of
 * the two days beside a border and of the days between that hold no step.
 */
export function refineBorders(stretches: readonly Stretch[], zone: string, values: ValuesAround): Stretch[] {
  return stretches.map((stretch, i) => {
    const before = stretches[i - 1]
    if (!before?.grid || !stretch.grid || before.grid.step === stretch.grid.step) return stretch
    if (isCalendarStep(before.grid.step) || isCalendarStep(stretch.grid.step)) return stretch
    return { ...stretch, from: findChange(before.grid, stretch.grid, stretch.from, zone, values(stretch.from)) }
  })
}

/** The period at which a step changes, near a border of days. */
function findChange(before: Grid, after: Grid, border: Instant, zone: string, values: readonly Instant[]): Instant {
  const [coarse, fine] = before.step > after.step ? [before, after] : [after, before]
  const finer = values.filter((at) => isOnGrid(fine, zone, at) && !isOnGrid(coarse, zone, at))
  const candidates = coarse === before ? finer : finer.toReversed()
  const near = candidates.find((at) => areMostPresent(fine, values, at, border))
  if (near === undefined) return border
  const begins = near - modulo(near + offsetAt(zone, near) - coarse.anchor - offsetAt(zone, coarse.anchor), coarse.step)
  const change = coarse === before ? begins : periodEnd(coarse, zone, begins)
  // A few coarse periods at midnight are lost values: steps change with the day.
  return Math.abs(change - border) < CHANGED_PERIODS * coarse.step ? border : change
}

/** Whether most fine periods between an instant and a border have a value: a stray one among coarse periods shows no change. */
function areMostPresent({ step }: Grid, values: readonly Instant[], at: Instant, border: Instant): boolean {
  const [from, to] = at < border ? [at, border] : [border, at + step]
  return values.filter((value) => value >= from && value < to).length >= ((to - from) / step) * WHOLE_DAY
}
