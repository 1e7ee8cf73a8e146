/** The child process of `runner.ts`: it runs one statement and exits. */

import { once } from 'node:events'
import { openReader } from '../../db/open.ts'
import { InputError } from '../../util/errors.ts'
import { endWithParent } from '../../util/lifetime.ts'
import { asSyncError } from '../../util/systemErrors.ts'
import { grouped } from '../../util/text.ts'
import { plain } from '../cells.ts'
import type { Cut, StatementMessage, StatementOrder } from './runner.ts'
import { runQuery } from './runQuery.ts'

/** Letters of a block of rows; one row may have more. */
const BLOCK_LETTERS = 64 * 1024
/** The maximum letters of a row: the parent process needs several times as much memory to print it. */
const MAX_ROW_LETTERS = 128 * 1024 * 1024
/** Milliseconds that the process waits for its statement. */
const IDLE_MS = 60_000

const send = (message: StatementMessage | 'ready'): Promise<unknown> =>
  new Promise((resolve) => process.send!(message, undefined, {}, resolve))

async function sendBlock(rows: readonly unknown[][]): Promise<void> {
  const requested = once(process, 'message')
  await send({ rows })
  await requested
}

/** Returns the approximate letters of a cell. */
const countLetters = (cell: unknown): number =>
  typeof cell === 'string' || Buffer.isBuffer(cell) ? cell.length + 1 : 8

/** Cuts a text, or bytes as text, to some letters; returns any other value unchanged. */
function shorten(cell: unknown, letters: number): unknown {
  if (typeof cell !== 'string' && !Buffer.isBuffer(cell)) return cell
  const text = plain(cell.length > letters ? cell.slice(0, letters) : cell)
  return text.length > letters || cell.length > letters ? `${text.slice(0, letters)}…` : text
}

async function run({ request, limits }: StatementOrder): Promise<void> {
  const { rows: maxRows, bytes: maxLetters = Number.POSITIVE_INFINITY, cellLetters } = limits
  const reader = openReader(request.file)
  try {
    const { columns, rows } = await runQuery(reader, request)
    await send({ columns })
    let block: unknown[][] = []
    let blockLetters = 0
    let count = 0
    let letters = 0
    let cut: Cut = null
    reading: for await (const rowsRead of rows)
      for (const row of rowsRead) {
        const cells = cellLetters === undefined ? [...row] : row.map((cell) => shorten(cell, cellLetters))
        const size = cells.reduce<number>((sum, cell) => sum + countLetters(cell), 0)
        if (size > MAX_ROW_LETTERS)
          throw new InputError(`A row has ${grouped(size)} characters; at most ${grouped(MAX_ROW_LETTERS)} fit.`, {
            hint: 'Select less of it, for example with substr(…).',
            code: 'row-too-large',
          })
        letters += size
        cut = count === maxRows ? 'rows' : count > 0 && letters > maxLetters ? 'bytes' : null
        if (cut) break reading
        count++
        block.push(cells)
        blockLetters += size
        if (blockLetters < BLOCK_LETTERS) continue
        await sendBlock(block)
        block = []
        blockLetters = 0
      }
    if (block.length > 0) await sendBlock(block)
    await send({ cut })
  } finally {
    await reader.close()
  }
}

/** Sends an error to the parent process. */
function sendError(thrown: unknown): Promise<unknown> {
  const { name, message, hint, code, cause } = asSyncError(thrown)
  return send({ error: { name, message, hint, code, cause: cause instanceof Error ? cause : undefined } })
}

endWithParent(process.ppid, Number(process.argv[2]))
process.on('disconnect', () => process.exit())
const idleTimer = setTimeout(() => process.exit(), IDLE_MS)
process.once('message', async (order: StatementOrder) => {
  clearTimeout(idleTimer)
  await run(order).catch(sendError)
  process.exit()
})
void send('ready')
