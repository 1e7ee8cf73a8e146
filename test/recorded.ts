import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder with answers that were recorded from the live service. They are not part of the project. */
const FOLDER = process.env.INDICATOR_SYNC_TEST_RECORDED

/** Whether there are recorded answers: `test.skipIf(!HAS_RECORDED)`. */
export const HAS_RECORDED = FOLDER !== undefined

export const recorded = (name: string) => JSON.parse(readFileSync(join(FOLDER!, name), 'utf8'))
