/** The child process of `runner.ts`: it runs one statement and exits. */

import { once } from 'node:events'
import type { AttachedTable } from '../../db/engine.ts'
import { openReader } from '../../db/open.ts'
import { InputError } from '../../util/errors.ts'
import { endWithParent } from '../../util/lifetime.ts'
import { asSyncError } from '../../util/systemErrors.ts'
import { grouped } from '../../util/text.ts'
import { plain } from '../cells.ts'
import { readOwnTable } from '../ownTables/readOwnTable.ts'
import type { Cut, StatementMessage, StatementOrder } from './runner.ts'
import { runQuery } from './runQuery.ts'

/** Characters of a block of rows; one row may have more. */
const BLOCK_CHARACTERS = 64 * 1024
/** The maximum characters of a row: the parent process needs several times as much memory to print it. */
const MAX_ROW_CHARACTERS = 128 * 1024 * 1024
/** Milliseconds that the process waits for its statement. */
const IDLE_MS = 60_000

const send = (message: StatementMessage | 'ready'): Promise<unknown> =>
  new Promise((resolve) => process.send!(message, undefined, {}, resolve))

async function sendBlock(rows: readonly unknown[][]): Promise<void> {
  const requested = once(process, 'message')
  await send({ rows })
  await requested
}

/** Returns the approximate characters of a cell. */
const countCharacters = (cell: unknown): number =>
  typeof cell === 'string' || Buffer.isBuffer(cell) ? cell.length + 1 : 8

/** Cuts a text, or bytes as text, to some characters; returns any other value unchanged. */
function shorten(cell: unknown, characters: number): unknown {
  if (typeof cell !== 'string' && !Buffer.isBuffer(cell)) return cell
  const text = plain(cell.length > characters ? cell.slice(0, characters) : cell)
  return text.length > characters || cell.length > characters ? `${text.slice(0, characters)}…` : text
}

/** Adds the names of the CSV files' tables to the error for a table that does not exist. */
function nameTables(error: unknown, tables: readonly AttachedTable[]): unknown {
  const isMissing = error instanceof InputError && /no such table|relation .* does not exist/.test(error.message)
  if (!isMissing || tables.length === 0) return error
  const names = tables.map(({ name }) => name).join(', ')
  return new InputError(error.message, {
    hint: `Tables of --with: ${names}. ${error.hint}`,
    code: 'bad-sql',
    cause: error,
  })
}

async function run({ request, limits }: StatementOrder): Promise<void> {
  const { rows: maxRows, bytes: maxCharacters = Number.POSITIVE_INFINITY, cellCharacters } = limits
  const reader = openReader(request.file)
  try {
    const tables = (request.ownTables ?? []).map(readOwnTable)
    if (tables.length > 0) await reader.engine.attachTables(tables)
    const { columns, rows } = await runQuery(reader, request).catch((error: unknown) => {
      throw nameTables(error, tables)
    })
    await send({ columns, attached: tables.map((table) => ({ ...table, rows: table.rows.length })) })
    let block: unknown[][] = []
    let blockCharacters = 0
    let count = 0
    let characters = 0
    let cut: Cut = null
    reading: for await (const rowsRead of rows)
      for (const row of rowsRead) {
        const cells = cellCharacters === undefined ? [...row] : row.map((cell) => shorten(cell, cellCharacters))
        const size = cells.reduce<number>((sum, cell) => sum + countCharacters(cell), 0)
        if (size > MAX_ROW_CHARACTERS)
          throw new InputError(`A row has ${grouped(size)} characters; at most ${grouped(MAX_ROW_CHARACTERS)} fit.`, {
            hint: 'Select less of it, for example with substr(…).',
            code: 'row-too-large',
          })
        characters += size
        const isLong = count > 0 && characters > maxCharacters
        if (count === maxRows) cut = 'rows'
        else if (isLong) cut = 'bytes'
        if (cut) break reading
        count++
        block.push(cells)
        blockCharacters += size
        if (blockCharacters < BLOCK_CHARACTERS) continue
        await sendBlock(block)
        block = []
        blockCharacters = 0
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
