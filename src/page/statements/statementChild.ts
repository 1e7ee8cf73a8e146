/** The other process of `statements.ts`: it answers one statement and ends. */

import { endWithParent } from '../../base/endWithParent.ts'
import { SyncError } from '../../base/errors.ts'
import { openReader } from '../../db/open.ts'
import { exactNumber, plain, uniqueNames } from '../../products/cells.ts'
import { asAnswerError } from '../../products/statement.ts'
import type { StatementAnswer, StatementLimits, StatementRequest } from './statements.ts'

/** The most letters of one cell; longer ones are cut. */
const MAX_CELL_LETTERS = 100_000
/** Bytes of the whole process. */
const MEMORY = 256 * 1024 * 1024
/** Milliseconds that a process waits for its statement. */
const PATIENCE_MS = 60_000

/** A value as JSON can hold it exactly: whole numbers beyond doubles and non-finite numbers as text, bytes as base64. */
function cellValue(value: unknown): string | number | null {
  const exact = exactNumber(value)
  if (exact === null || (typeof exact === 'number' && Number.isFinite(exact))) return exact as number | null
  const text = plain(exact)
  return text.length > MAX_CELL_LETTERS ? `${text.slice(0, MAX_CELL_LETTERS)}…` : text
}

async function answerStatement(
  { file, sql, parameters }: StatementRequest,
  { rows, bytes }: StatementLimits,
): Promise<StatementAnswer> {
  const reader = openReader(file)
  try {
    const found = await reader.engine.query(sql, parameters)
    const taken: (string | number | null)[][] = []
    let size = 0
    let cut: StatementAnswer['cut'] = null
    reading: for await (const block of found.rows)
      for (const row of block) {
        const cells = row.map(cellValue)
        size += cells.reduce<number>((sum, cell) => sum + String(cell).length + 1, 0)
        cut = taken.length === rows ? 'rows' : taken.length > 0 && size > bytes ? 'bytes' : null
        if (cut) break reading
        taken.push(cells)
      }
    return { columns: uniqueNames(found.columns.map(({ name }) => name)), rows: taken, cut }
  } catch (error) {
    throw asAnswerError(error)
  } finally {
    await reader.close()
  }
}

/** The message about a failure to the parent process. */
const errorOf = (error: unknown) =>
  error instanceof SyncError
    ? { message: error.message, hint: error.hint, code: error.code }
    : { message: error instanceof Error ? error.message : String(error), code: 'bug' }

endWithParent(process.ppid, MEMORY)
process.on('disconnect', () => process.exit())
const idleTimer = setTimeout(() => process.exit(), PATIENCE_MS)
interface ChildRequest {
  readonly request: StatementRequest
  readonly limits: StatementLimits
}
process.once('message', ({ request, limits }: ChildRequest) => {
  clearTimeout(idleTimer)
  answerStatement(request, limits)
    .then(
      (done) => ({ done }),
      (error) => ({ error: errorOf(error) }),
    )
    .then((message) => process.send!(message, () => process.exit()))
})
process.send!('ready')
