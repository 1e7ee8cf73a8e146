import { InputError } from '../base/errors.ts'

/** What SQLite and JavaScript say of a value beyond what they hold. */
const isTooLarge = (error: Error): boolean =>
  ('code' in error && ['SQLITE_TOOBIG', 'SQLITE_NOMEM', 'ERR_STRING_TOO_LONG'].includes(String(error.code))) ||
  (error instanceof RangeError && /string length|array buffer|allocation/i.test(error.message))

/** SQLite's own words for what is wrong with a statement, as ours. */
export function asInputError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if ('code' in error && String(error.code) === 'SQLITE_READONLY')
    return new InputError('A query only reads; this statement writes.', { code: 'no-writing', cause: error })
  if ('code' in error && String(error.code).startsWith('SQLITE_ERROR'))
    return new InputError(`SQL: ${error.message}.`, {
      hint: 'docs/schema.md lists tables, views and columns; so does `select * from data_dictionary`.',
      code: 'bad-sql',
    })
  if ((error instanceof RangeError || error instanceof TypeError) && /parameter/i.test(error.message))
    return new InputError(`${error.message}.`, {
      hint: 'Give each :name of the statement a value: --param name=value.',
      code: 'missing-parameter',
    })
  if (isTooLarge(error))
    return new InputError('A value or a row of the answer is too large to be read or written as text.', {
      hint: 'Ask for less of it: length(…), substr(…), or a column at a time; CSV tells how long a blob is.',
      code: 'value-too-large',
      cause: error,
    })
  if (error instanceof RangeError && /more than one statement/.test(error.message))
    return new InputError('Give one statement at a time.', { code: 'several-statements', cause: error })
  return error
}

/** Whether an integer fits into 64 bits. */
const fits = (value: bigint): boolean => BigInt.asIntN(64, value) === value

/** The value of a parameter given as text: a number where it looks like one. */
export function parameterOf(text: string): string | number | bigint {
  if (/^-?\d+$/.test(text)) return fits(BigInt(text)) ? BigInt(text) : Number(text)
  return /^-?\d+\.\d+$/.test(text) ? Number(text) : text
}
