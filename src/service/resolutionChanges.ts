/** A day (of the service's zone) from which series come in another resolution. */
export interface ResolutionChange {
  readonly from: string
  readonly indicators: readonly number[]
}

/** Changes that the operator announced: windows are cut there without requesting. Others are found in the answers. */
export const CHANGES: readonly ResolutionChange[] = [
  {
    from: '2025-10-01',
    indicators: [
      ...[600, 602, 533, 534, 488, 489, 490, 491, 492, 493, 494, 495],
      ...[1844, 1845, 1846, 1848, 1849, 1850, 1117, 1118, 1119, 1120],
    ],
  },
  {
    from: '2024-06-14',
    indicators: [
      ...[612, 613, 614, 605, 606, 607, 1121, 1122, 1123, 1128, 1129, 1130],
      ...[2102, 2103, 2104, 2105, 2106, 2107],
    ],
  },
]

/** The announced days on which an indicator of a service changed its resolution. */
export const announcedChanges = (changes: readonly ResolutionChange[], indicatorId: number): readonly string[] =>
  changes.filter(({ indicators }) => indicators.includes(indicatorId)).map(({ from }) => from)
