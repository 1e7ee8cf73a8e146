/** The other process of `statements.ts`: it answers one statement and ends. */

import { endWithParent } from '../base/endWithParent.ts'
import { SyncError } from '../base/errors.ts'
import { openReader } from '../db/open.ts'
import { asInputError } from '../products/badStatement.ts'
import { exactNumber, plain, uniqueNames } from '../products/cells.ts'
import type { Limits, StatementAnswer, StatementQuestion } from './statements.ts'

/** Letters of one cell; what is longer is cut. */
const CELL = 100_000
/** Bytes that SQLite itself may take. */
const MEMORY = 256 * 1024 * 1024
/** How long a process waits for its statement. */
const PATIENCE_MS = 60_000

/** A value as it can be told in JSON: whole numbers beyond doubles and what is no finite number as text, bytes as base64. */
function cellOf(value: unknown): string | number | null {
  const told = exactNumber(value)
  if (told === null || (typeof told === 'number' && Number.isFinite(told))) return told as number | null
  const text = plain(told)
  return text.length > CELL ? `${text.slice(0, CELL)}…` : text
}

async function answer({ file, sql, parameters }: StatementQuestion, { rows, bytes }: Limits): Promise<StatementAnswer> {
  const reader = openReader(file)
  try {
    await reader.engine.limitMemory(MEMORY)
    const found = await reader.engine.query(sql, parameters)
    const taken: (string | number | null)[][] = []
    let told = 0
    let cut: StatementAnswer['cut'] = null
    reading: for await (const block of found.rows)
      for (const row of block) {
        const cells = row.map(cellOf)
        told += cells.reduce<number>((sum, cell) => sum + String(cell).length + 1, 0)
        cut = taken.length === rows ? 'rows' : taken.length > 0 && told > bytes ? 'bytes' : null
        if (cut) break reading
        taken.push(cells)
      }
    return { columns: uniqueNames(found.columns.map(({ name }) => name)), rows: taken, cut }
  } catch (error) {
    throw asInputError(error)
  } finally {
    await reader.close()
  }
}

/** What is said of a failure to the process that asked. */
const toldOf = (error: unknown) =>
  error instanceof SyncError
    ? { message: error.message, hint: error.hint, code: error.code }
    : { message: error instanceof Error ? error.message : String(error), code: 'bug' }

endWithParent(process.ppid)
process.on('disconnect', () => process.exit())
const idle = setTimeout(() => process.exit(), PATIENCE_MS)
process.once('message', ({ question, limits }: { question: StatementQuestion; limits: Limits }) => {
  clearTimeout(idle)
  answer(question, limits)
    .then(
      (done) => ({ done }),
      (error) => ({ error: toldOf(error) }),
    )
    .then((said) => process.send!(said, () => process.exit()))
})
process.send!('ready')
