import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of replies recorded from the real service, which are not part of the project. */
const FOLDER = process.env.INDICATOR_SYNC_TEST_RECORDED

/** Whether recorded replies exist: `test.skipIf(!HAS_RECORDED)`. */
export const HAS_RECORDED = FOLDER !== undefined

export const recorded = (name: string) => JSON.parse(readFileSync(join(FOLDER!, name), 'utf8'))

/** The folder `probe` in it, which `indicator-sync probe --record` wrote; null without one. */
export const RECORDED_PROBE = HAS_RECORDED && existsSync(join(FOLDER!, 'probe')) ? join(FOLDER!, 'probe') : null
