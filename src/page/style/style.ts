import { BASE } from './base.ts'
import { COVERAGE } from './coverage.ts'
import { READING } from './reading.ts'
import { SERIES } from './series.ts'

/** The style of all pages, part by part. */
export const STYLE: string = [BASE, COVERAGE, READING, SERIES].join('\n')
