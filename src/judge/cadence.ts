import type { CadenceKind } from '../db/tables/series.ts'
import { modulo } from '../util/modulo.ts'
import { type DayStep, phaseAt, WHOLE_DAY } from '../util/time/dayStep.ts'
import { DAY, EARLIEST, HOUR, type Instant } from '../util/time/instant.ts'
import { type DayNumber, localDay, toCivil } from '../util/time/localDay.ts'
import { isCalendarStep, isSameStep } from '../util/time/periods.ts'
import { indexAt, offsetAt, transitions } from '../util/time/zone.ts'
import { type Grid, isOnGrid, normalizeGrid, periodEnd } from './grid.ts'
import { CHANGED_DAYS, CHANGED_PERIODS, DAILY_DAYS, REGULAR_DAYS, REGULAR_PERIODS, WHOLE_DAYS_SHARE } from './limits.ts'

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
  /** Seconds from a border of that step to its periods: in UTC for a step up to an hour, else on the local clock. */
  readonly offset: number
  /** How many values are off these periods. */
  readonly strays: number
}

/** The shape of a stored day. */
export const toShape = (day: DayNumber, { step, offset, strays }: DayStep): DayShape => ({
  day,
  step,
  offset: offset ?? 0,
  strays: strays ?? 0,
})

/** The other input of the decision about a cadence. */
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
export const SINCE_EVER: Instant = EARLIEST

/** The periods of a day. */
interface DayGrid {
  readonly day: DayNumber
  readonly step: number
  readonly offset: number
}

/** Days with the same periods that follow each other, from `day` to `last`. */
interface GridDays extends DayGrid {
  readonly last: DayNumber
}

/** Days with the same periods, of which `whole` hold the step, `longest` without a break. */
interface Block extends GridDays {
  readonly whole: number
  readonly longest: number
}

/** Finds the stretches of a timeline. Borders between them are those of days; `refineBorders` moves them into a day. */
export function findStretches(
  days: readonly DayShape[],
  { zone, grouped, announced, expect }: CadenceInput,
): Stretch[] {
  // C9: the expectation of a job overrides the values.
  if (expect === 'irregular') return [irregular('irregular')]
  if (expect !== null) return [regular(SINCE_EVER, expectedGrid(days, zone, expect))]
  const shapes = grouped === null ? days : days.map((day) => ofStep(day, grouped))
  // C2: seven consecutive days anywhere make the whole timeline regular.
  const week = finest(findStreaks(shapes).filter(isWeek))
  const stretches: Stretch[] = []
  for (const part of splitAt(shapes, announced)) {
    const from = localDay(zone, part[0]!.day).from
    const sparse = irregular(isDaily(part) ? 'daily' : 'irregular', from)
    stretches.push(...(findRegularStretches(part, zone, week) ?? [sparse]))
  }
  if (stretches.length === 0) return [irregular('irregular')]
  return joinEqual(stretches, zone).map((stretch, i) => (i === 0 ? { ...stretch, from: SINCE_EVER } : stretch))
}

const regular = (from: Instant, grid: Grid): Stretch => ({ from, kind: 'regular', grid })
const irregular = (kind: 'daily' | 'irregular', from = SINCE_EVER): Stretch => ({ from, kind, grid: null })

/** Whether a day holds a step. */
const hasStep = (day: DayShape): day is DayShape & DayGrid => day.step !== null
const hasSameGrid = (a: DayGrid, b: DayGrid): boolean => a.step === b.step && a.offset === b.offset
const lengthOf = ({ day, last }: Pick<GridDays, 'day' | 'last'>): number => last - day + 1
const isWeek = (streak: GridDays): boolean => lengthOf(streak) >= REGULAR_DAYS

/** The day without its step if it is not the one by which the service grouped. */
const ofStep = (day: DayShape, step: number): DayShape => {
  const isSame = day.step === step || (isCalendarStep(step) && day.step !== null && isCalendarStep(day.step))
  return isSame ? day : { ...day, step: null }
}

/** Splits days where the service announced another step: what is native on one side shows nothing about the other (C5). */
function splitAt(days: readonly DayShape[], announced: readonly DayNumber[]): DayShape[][] {
  const borders = [Number.NEGATIVE_INFINITY, ...announced, Number.POSITIVE_INFINITY]
  return borders
    .slice(1)
    .map((end, i) => days.filter(({ day }) => day >= borders[i]! && day < end))
    .filter((part) => part.length > 0)
}

/** Groups consecutive days with the same periods. */
function findStreaks(days: readonly DayShape[]): GridDays[] {
  const streaks: GridDays[] = []
  for (const shape of days.filter(hasStep)) {
    const { day, step, offset } = shape
    const streak = streaks.at(-1)
    if (streak && streak.last === day - 1 && hasSameGrid(streak, shape))
      streaks[streaks.length - 1] = { ...streak, last: day }
    else streaks.push({ step, offset, day, last: day })
  }
  return streaks
}

/** The streak of the finest step; the longest of several. */
function finest(streaks: readonly GridDays[]): GridDays | undefined {
  return streaks.reduce<GridDays | undefined>(
    (best, streak) =>
      !best || streak.step < best.step || (streak.step === best.step && lengthOf(streak) > lengthOf(best))
        ? streak
        : best,
    undefined,
  )
}

/** The stretches of a part of a timeline; null if it is irregular. `week`: whole days elsewhere in the timeline. */
function findRegularStretches(days: readonly DayShape[], zone: string, week: GridDays | undefined): Stretch[] | null {
  const streaks = findStreaks(days)
  const weeks = streaks.filter(isWeek)
  const own = finest(weeks)
  if (!own) {
    const calendar = findCalendarGrids(days, zone) ?? (week && assignGrids(days, zone, [], finest(streaks) ?? week))
    return calendar ? joinDays(calendar, zone) : null
  }
  // Weeks and months before the first whole days, and after the last ones, are another step, too (C1, C5).
  const first = weeks[0]!.day
  const { last } = weeks.at(-1)!
  const isEarly = ({ day }: DayShape | DayGrid): boolean => day < first
  const isLate = ({ day }: DayShape | DayGrid): boolean => day > last
  const early = findCalendarGrids(days.filter(isEarly), zone)
  const late = findCalendarGrids(days.filter(isLate), zone)
  const grids = assignGrids(days, zone, findBlocks(days, own.step), own)
  const others = grids.filter((grid) => !(early && isEarly(grid)) && !(late && isLate(grid)))
  return [...joinDays(early ?? [], zone), ...joinDays(others, zone), ...joinDays(late ?? [], zone, last + 1)]
}

/**
 * C4 and C5: a block lasts until the next one begins, and a day with a finer step is native. A coarser day lost values. The newest days
 * may not be complete yet, so that they hold no step: they go on like a finer day before them.
 */
function assignGrids(days: readonly DayShape[], zone: string, blocks: readonly Block[], otherwise: DayGrid): DayGrid[] {
  let base: DayGrid = blocks[0] ?? otherwise
  let next = 0
  const newest = days.findLastIndex(hasStep) + 1
  return days.map((shape, i) => {
    while (blocks[next] && blocks[next]!.day <= shape.day) base = blocks[next++]!
    const own = i >= newest ? days[newest - 1] : shape
    const isNative = own && hasStep(own) && (own.step < base.step || isClockShift(zone, base, own))
    const { step, offset } = isNative ? own : base
    return { day: shape.day, step, offset }
  })
}

/**
 * The blocks of days that decide about days beside them. A block of the finest step has at least fourteen days, of which some may have
 * lost values and even look coarser. Of a coarser step, fourteen days follow each other, and none of them holds other values.
 */
function findBlocks(days: readonly DayShape[], finestStep: number): Block[] {
  const blocks: Block[] = []
  for (const streak of findStreaks(days.filter(({ step, strays }) => step === finestStep || strays === 0))) {
    const length = lengthOf(streak)
    if (streak.step !== finestStep && length < CHANGED_DAYS) continue
    const block = blocks.at(-1)
    const whole = (block?.whole ?? 0) + length
    const isNear =
      block && streak.day - block.last <= CHANGED_DAYS && whole / (streak.last - block.day + 1) >= WHOLE_DAYS_SHARE
    if (block && isNear && hasSameGrid(block, streak)) {
      const longest = Math.max(block.longest, length)
      blocks[blocks.length - 1] = { ...block, last: streak.last, whole, longest }
    } else blocks.push({ ...streak, whole: length, longest: length })
  }
  return blocks.filter((block) => block.longest >= REGULAR_DAYS && lengthOf(block) >= CHANGED_DAYS)
}

/** Whether a day has the periods of another, and only clocks changed between them: the same times in UTC. */
const isClockShift = (zone: string, a: DayGrid, b: DayGrid): boolean =>
  a.step === b.step &&
  a.offset !== b.offset &&
  modulo(anchorOf(zone, a) - anchorOf(zone, b), Math.min(a.step, DAY)) === 0

/** The start of the first period of a day. */
function anchorOf(zone: string, { day, step, offset }: DayGrid): Instant {
  const { from } = localDay(zone, day)
  if (step <= HOUR) return from + modulo(offset - from, step)
  const local = day * DAY + offset
  const at = local - offsetAt(zone, local - offsetAt(zone, from))
  const isAt = (instant: Instant): boolean => instant + offsetAt(zone, instant) === local
  // Clocks skip or repeat this time on this day.
  const isUnique = isAt(at) && !isAt(at + HOUR) && !isAt(at - HOUR)
  return isUnique || step > DAY ? at : anchorOf(zone, { day: day + 1, step, offset })
}

/** Joins neighbouring days with the same periods to stretches. `begins`: the day on which the first one begins; default: its own. */
function joinDays(grids: readonly DayGrid[], zone: string, begins = grids[0]?.day): Stretch[] {
  return grids
    .filter((grid, i) => i === 0 || !hasSameGrid(grids[i - 1]!, grid))
    .map((grid, i) =>
      regular(localDay(zone, i === 0 ? begins! : grid.day).from, { step: grid.step, anchor: anchorOf(zone, grid) }),
    )
}

/** Drops stretches that go on like the one before. */
const joinEqual = (stretches: readonly Stretch[], zone: string): Stretch[] =>
  stretches.filter(({ kind, grid }, i) => {
    const before = stretches[i - 1]
    if (!before || before.kind !== kind) return true
    return grid !== null && !isSameGrid(before.grid!, grid, zone)
  })

/** Whether two grids have the same periods. Compares two of them, because a period that clocks skip begins with the next one of another grid. */
const isSameGrid = (a: Grid, b: Grid, zone: string): boolean =>
  a.step === b.step && isOnGrid(a, zone, b.anchor) && isOnGrid(a, zone, periodEnd(b, zone, b.anchor))

/** C3: whether days with values follow each other, for 28 days on average. */
const isDaily = (days: readonly DayShape[]): boolean =>
  days.length >= DAILY_DAYS * days.filter(({ day }, i) => days[i - 1]?.day !== day - 1).length

/** Units of a week and longer: the number of the unit that contains a day, and the place of the day in it. */
const CALENDAR_UNITS: readonly {
  readonly step: number
  readonly index: (day: DayNumber) => number
  readonly place: (day: DayNumber) => number
}[] = [
  { step: 7 * DAY, index: (day) => Math.floor(day / 7), place: (day) => modulo(day, 7) },
  ...(
    [
      [30, 1],
      [91, 3],
      [365, 12],
    ] as const
  ).map(([days, months]) => ({
    step: days * DAY,
    index: (day: DayNumber) => Math.floor(toCivil(day).month / months),
    place: (day: DayNumber) => (toCivil(day).month % months) * 31 + toCivil(day).dayOfMonth,
  })),
]

const largest = <T>(groups: Iterable<readonly T[]>): readonly T[] =>
  [...groups].reduce((best, group) => (group.length > best.length ? group : best), [])

/** C1: the finest unit of a week or longer of which three consecutive periods have a value, if seven eighths of the days are on it. */
function findCalendarGrids(days: readonly DayShape[], zone: string): readonly DayGrid[] | null {
  const singles = days.filter(hasStep).filter(({ step }) => isCalendarStep(step))
  for (const { step, index, place } of CALENDAR_UNITS) {
    const same = largest(Map.groupBy(singles, ({ day }) => place(day)).values())
    const base = largest(Map.groupBy(same, ({ offset }) => offset).values())[0]
    const own = same.filter((single) => single.offset === base!.offset || isClockShift(zone, base!, single))
    if (own.length === 0 || own.length < days.length * WHOLE_DAY) continue
    const numbers = own.map(({ day }) => index(day))
    if (!numbers.some((n, i) => numbers[i + REGULAR_PERIODS - 1] === n + REGULAR_PERIODS - 1)) continue
    return own.map(({ day, offset }) => ({ day, step, offset }))
  }
  return null
}

/** The periods of an expected step: those of most days that hold a step; else those of the calendar. */
function expectedGrid(days: readonly DayShape[], zone: string, step: number): Grid {
  const place = CALENDAR_UNITS.find((unit) => isSameStep(unit.step, step))?.place ?? (() => 0)
  const anchors = days.filter(hasStep).map((day) => ({ place: place(day.day), anchor: anchorOf(zone, day) }))
  const groups = Map.groupBy(anchors, (day) => `${day.place} ${phaseAt(zone, day.anchor, step)}`)
  const anchor = largest(groups.values())[0]?.anchor ?? anchorOf(zone, { day: 0, step, offset: 0 })
  return { step, anchor }
}

/** The instants of the values of some days, in order. */
export type ValuesAround = (border: Instant) => readonly Instant[]

/**
 * Moves borders between two regular stretches to the period at which the step changes, if that is inside a day. `values` are those of
 * the two days beside a border and of the days between that hold no step.
 */
export function refineBorders(stretches: readonly Stretch[], zone: string, values: ValuesAround): Stretch[] {
  const refined = stretches.map((stretch, i) => {
    const { from, grid: after } = stretch
    const before = stretches[i - 1]
    if (!before?.grid || !after) return stretch
    if (before.grid.step === after.step)
      return { ...stretch, from: Math.max(before.from + 1, findClockChange(before.grid, after, from, zone)) }
    if (isCalendarStep(before.grid.step) || isCalendarStep(after.step)) return stretch
    const to = stretches[i + 1]?.from ?? Number.POSITIVE_INFINITY
    const own = values(from).filter((at) => at >= before.from && at < to)
    return { ...stretch, from: findChange(before.grid, after, from, zone, own) }
  })
  // Grids are normalized last, because those beside a border are compared by instants near to it.
  return refined.map(({ grid, ...stretch }) => ({ ...stretch, grid: grid && normalizeGrid(grid, zone) }))
}

/** The last clock change before the end of the day after a border, if it explains that the periods begin at another local time. */
function findClockChange(before: Grid, after: Grid, border: Instant, zone: string): Instant {
  const isSameInUtc = modulo(after.anchor - before.anchor, Math.min(after.step, DAY)) === 0
  if (!isSameInUtc) return border
  const rows = transitions(zone)
  const { at } = rows[indexAt(rows, border + DAY)]!
  // A day of the new grid that would begin in the skipped hour begins right after it, although a day of the old one has begun already.
  const isSkipped = isOnGrid(after, zone, at) && phaseAt(zone, at, DAY) !== phaseAt(zone, after.anchor, DAY)
  return isSkipped ? at + 1 : at
}

/** The period at which a step changes, near a border of days: with the fewest periods of the other step before and after it. */
function findChange(before: Grid, after: Grid, border: Instant, zone: string, values: readonly Instant[]): Instant {
  const [coarse, fine] = before.step > after.step ? [before, after] : [after, before]
  const coarsePhase = phaseAt(zone, coarse.anchor, coarse.step)
  /** Coarse periods with values, and whether they hold finer ones. */
  const periods = new Map<Instant, boolean>()
  for (const at of values) {
    const begins = at - modulo(phaseAt(zone, at, coarse.step) - coarsePhase, coarse.step)
    periods.set(begins, periods.get(begins) || (at !== begins && isOnGrid(fine, zone, at)))
  }
  let change = border
  let wrong = 0
  let least = Number.POSITIVE_INFINITY
  const visit = (at: Instant): void => {
    if (wrong > least || (wrong === least && Math.abs(at - border) >= Math.abs(change - border))) return
    least = wrong
    change = at
  }
  for (const [begins, isFine] of periods) {
    visit(begins)
    wrong += isFine === (fine === after) ? 1 : -1
    visit(periodEnd(coarse, zone, begins))
  }
  // A few coarse periods at midnight are lost values: steps change with the day.
  return Math.abs(change - border) < CHANGED_PERIODS * coarse.step ? border : change
}
