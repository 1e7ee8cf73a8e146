import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { EXPORT_COLUMNS, exportRows } from '../audit/export.ts'
import { InputError } from '../base/errors.ts'
import { EARLIEST, formatMillis, LATEST } from '../base/instant.ts'
import { openReader } from '../db/open.ts'
import { readSettings } from './config.ts'
import { EXIT } from './fail.ts'
import type { CommonArgs, DatabaseArgs, RangeArgs } from './flags.ts'
import { instantOf, rangeOf } from './jobs.ts'
import { format, type Result } from './output.ts'

interface ExportArgs extends CommonArgs, DatabaseArgs, RangeArgs {
  readonly indicator: number[]
  readonly geo?: number[]
  readonly asOf?: string
  readonly format: 'csv' | 'ndjson'
  readonly output?: string
}

/** Rows that are written at a time. */
const BATCH = 5_000
const ZONE = 'Europe/Madrid'

/** Where an export goes: stdout, or a file that is there only when it is whole. */
function openOutput(output: string | undefined): { write(text: string): void; done(): void; undo(): void } {
  if (output === undefined)
    return { write: (text) => process.stdout.write(text), done: () => undefined, undo: () => undefined }
  const beside = `${output}.${process.pid}.part`
  let file: number
  try {
    file = openSync(beside, 'wx')
  } catch (error) {
    throw new InputError(`${output} cannot be written: ${(error as NodeJS.ErrnoException).code}.`, {
      code: 'cannot-write',
      cause: error,
    })
  }
  return {
    write: (text) => writeSync(file, text),
    done() {
      closeSync(file)
      renameSync(beside, output)
    },
    undo() {
      closeSync(file)
      rmSync(beside, { force: true })
    },
  }
}

export async function run(args: ExportArgs): Promise<number> {
  const now = Math.floor(Date.now() / 1000)
  const range = rangeOf(args, ZONE, now)
  const asOf = args.asOf === undefined ? null : formatMillis(instantOf('as-of', args.asOf, ZONE, now) * 1000)
  const reader = openReader(readSettings(args).database.value)
  const output = openOutput(args.output)
  try {
    const question = {
      indicators: args.indicator,
      geos: args.geo ?? [],
      from: Math.max(range?.from ?? EARLIEST, EARLIEST),
      to: Math.min(range?.to ?? LATEST, LATEST),
      asOf,
    }
    const flush = (rows: unknown[][]) => {
      const result: Result = { columns: EXPORT_COLUMNS, rows }
      const text = format(result, args.format)
      // Only the first batch bears the header.
      const body = args.format === 'csv' && total > 0 ? text.slice(text.indexOf('\n') + 1) : text
      if (body !== '') output.write(`${body}\n`)
      total += rows.length
    }
    let total = 0
    let batch: unknown[][] = []
    for (const row of exportRows(reader, question)) {
      batch.push(row)
      if (batch.length === BATCH) {
        flush(batch)
        batch = []
      }
    }
    if (batch.length > 0 || total === 0) flush(batch)
    output.done()
    if (!args.quiet) process.stderr.write(`${total} rows${args.output ? ` in ${args.output}` : ''}.\n`)
    return EXIT.done
  } catch (error) {
    output.undo()
    throw error
  } finally {
    await reader.close()
  }
}
