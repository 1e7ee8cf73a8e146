import { BASE_STYLE } from './base.ts'
import { COVERAGE_STYLE } from './coverage.ts'
import { READING_STYLE } from './reading.ts'
import { SERIES_STYLE } from './series.ts'

/** The style of all pages, part by part. */
export const STYLE: string = [BASE_STYLE, COVERAGE_STYLE, READING_STYLE, SERIES_STYLE].join('\n')
