/** The length of a period: seconds, or a number of units of the local calendar. */
export type PeriodLength = number | { readonly unit: 'day' | 'month' | 'year'; readonly count: number }

/** The resolutions that a service states in `tiempo`. */
export interface Steps {
  /** Periods by id at the service. */
  readonly byNumber: Readonly<Record<number, PeriodLength>>
  /** Periods by word (lower case, without accents), for unknown ids. */
  readonly byWord: Readonly<Record<string, PeriodLength>>
  /**
   * The id of sums over several resolutions, in steps of its `byNumber`; null if the service never sums.
   */
  readonly coarse: number | null
  /** The ids of native resolutions. */
  readonly native: readonly number[]
}

export const ONE_DAY = { unit: 'day', count: 1 } as const
export const ONE_MONTH = { unit: 'month', count: 1 } as const
const ONE_QUARTER = { unit: 'month', count: 3 } as const
export const ONE_YEAR = { unit: 'year', count: 1 } as const
export const ONE_WEEK = { unit: 'day', count: 7 } as const

/** The resolutions of the specification's service; its words change, its ids do not. Source: recorded responses. */
export const STEPS: Steps = {
  byNumber: { 4: 3600, 223: 3600, 218: 900 },
  byWord: {
    hora: 3600,
    hour: 3600,
    'quince minutos': 900,
    'fifteen minutes': 900,
    'diez minutos': 600,
    'ten minutes': 600,
    'cinco minutos': 300,
    'five minutes': 300,
    dia: ONE_DAY,
    diario: ONE_DAY,
    day: ONE_DAY,
    daily: ONE_DAY,
    semana: ONE_WEEK,
    week: ONE_WEEK,
    mes: ONE_MONTH,
    mensual: ONE_MONTH,
    month: ONE_MONTH,
    monthly: ONE_MONTH,
    trimestre: ONE_QUARTER,
    quarter: ONE_QUARTER,
    ano: ONE_YEAR,
    anual: ONE_YEAR,
    year: ONE_YEAR,
  },
  coarse: 223,
  native: [4],
}

/** A day (of the service's zone) from which series have another resolution. */
export interface ResolutionChange {
  readonly from: string
  readonly indicators: readonly number[]
}

/** Changes that the operator announced, at which windows are split. Others are found in responses. */
export const CHANGES: readonly ResolutionChange[] = [
  {
    from: '2025-10-01',
    indicators: [
      600, 602, 533, 534, 488, 489, 490, 491, 492, 493, 494, 495, 1844, 1845, 1846, 1848, 1849, 1850, 1117, 1118, 1119,
      1120,
    ],
  },
  {
    from: '2024-06-14',
    indicators: [612, 613, 614, 605, 606, 607, 1121, 1122, 1123, 1128, 1129, 1130, 2102, 2103, 2104, 2105, 2106, 2107],
  },
]

/** The announced days on which an indicator of a service changed its resolution. */
export const announcedChanges = (changes: readonly ResolutionChange[], indicatorId: number): readonly string[] =>
  changes.filter(({ indicators }) => indicators.includes(indicatorId)).map(({ from }) => from)
