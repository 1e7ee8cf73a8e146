/** The input of a curve. */
export interface CurveInput {
  /** Local hours since midnight, with fraction. */
  readonly hour: number
  /** Day of the year, 0 to 365. */
  readonly day: number
  readonly isWeekend: boolean
  /** Random numbers of the day and of the hour, each in [-1, 1], interpolated between neighbours. */
  readonly daily: number
  readonly hourly: number
}

/** A bump of width `width` hours around an hour, 0 to 1. */
const bump = (hour: number, around: number, width: number): number => {
  const far = Math.min(Math.abs(hour - around), 24 - Math.abs(hour - around)) / width
  return Math.exp(-far * far)
}
/** 1 at the height of summer, -1 in the depth of winter. */
const summer = (day: number): number => -Math.cos(((day - 10) / 365) * 2 * Math.PI)
/** Sunshine: 0 at night, 1 at noon of a clear summer day. */
const sun = (hour: number, day: number): number => {
  const half = 6 + 1.6 * summer(day)
  const far = Math.abs(hour - 13.6) / half
  return far >= 1 ? 0 : Math.cos((far * Math.PI) / 2) * (0.7 + 0.3 * summer(day))
}

/** The shapes of the market: each a function of the hour, the season, the weekend and chance. */
export const CURVES = {
  price: ({ hour, day, isWeekend, daily, hourly }: CurveInput): number => {
    const spring = bump(((day - 110) / 365) * 24 + 12, 12, 4)
    const glut = sun(hour, day) * (35 + 45 * spring + (isWeekend ? 18 : 0))
    return (
      62 + 24 * daily + 30 * bump(hour, 21, 2.5) + 18 * bump(hour, 8.5, 2) - glut - (isWeekend ? 9 : 0) + 3 * hourly
    )
  },
  retail: (moment: CurveInput): number => {
    const isPeak =
      !moment.isWeekend && ((moment.hour >= 10 && moment.hour < 14) || (moment.hour >= 18 && moment.hour < 22))
    const isFlat = !moment.isWeekend && moment.hour >= 8
    const offPeak = isFlat ? 35 : 8
    return CURVES.price(moment) + 20 + (isPeak ? 95 : offPeak)
  },
  demand: ({ hour, day, isWeekend, daily, hourly }: CurveInput): number =>
    // Weekends differ by day, not by night, so that no line jumps at midnight.
    (25_500 - (isWeekend ? 3_400 * (1 - bump(hour, 0, 5)) : 0)) * (1 + 0.06 * summer(day) ** 2) +
    5_200 * bump(hour, 13, 4) +
    6_400 * bump(hour, 20.5, 3) -
    4_200 * bump(hour, 4, 3.5) +
    900 * daily +
    220 * hourly,
  wind: ({ day, daily, hourly }: CurveInput): number =>
    Math.max(180, 6_800 - 1_500 * summer(day) + 4_900 * daily + 700 * hourly),
  solar: ({ hour, day, daily, hourly }: CurveInput): number => sun(hour, day) * (17_500 + 3_000 * daily + 500 * hourly),
  hydro: ({ hour, day, daily, hourly }: CurveInput): number =>
    Math.max(
      300,
      2_900 - 900 * summer(day) + 2_200 * bump(hour, 21, 2.5) + 1_400 * bump(hour, 8, 2) + 700 * daily + 150 * hourly,
    ),
  nuclear: ({ daily, hourly }: CurveInput): number => 6_900 + 90 * daily + 8 * hourly,
  gas: ({ hour, day, daily, hourly }: CurveInput): number =>
    Math.max(900, 5_200 - 2_600 * sun(hour, day) + 2_400 * bump(hour, 21, 3) - 1_500 * daily + 200 * hourly),
  flow: ({ hour, daily, hourly }: CurveInput): number =>
    900 * daily + 500 * bump(hour, 14, 4) - 600 * bump(hour, 21, 3) + 150 * hourly,
  /** Nothing at most hours: only a border that is full earns a rent. */
  rent: ({ hour, daily, hourly }: CurveInput): number =>
    Math.max(0, 900 * daily + 300 * bump(hour, 14, 4) + 250 * hourly - 250),
  capacity: ({ daily }: CurveInput): number => Math.round((2_400 + 500 * daily) / 50) * 50,
} as const

/** The name of a curve, as a row of the table of indicators gives it. */
export type CurveName = keyof typeof CURVES
