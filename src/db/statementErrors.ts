import { InputError } from '../util/errors.ts'

/* Errors of a user's own statement, the same for both databases. */

/** The answer of a user's statement has a value that no program could show. */
export const valueTooLarge = (cause: unknown): InputError =>
  new InputError('A value or a row of the answer is too large to be read or written as text.', {
    hint: 'Ask for less of it: length(…), substr(…), or one column at a time; CSV shows the length of a blob.',
    code: 'value-too-large',
    cause,
  })

export const withoutRows = (): InputError =>
  new InputError('The statement answers no rows; only reading is possible.', {
    hint: 'Give a SELECT statement.',
    code: 'no-rows',
  })

export const noWriting = (cause: unknown): InputError =>
  new InputError('A query only reads; this statement writes.', { code: 'no-writing', cause })

export const severalStatements = (cause: unknown): InputError =>
  new InputError('Give one statement at a time.', { code: 'several-statements', cause })

export const missingParameter = (message: string, cause: unknown): InputError =>
  new InputError(message, {
    hint: 'Give each :name of the statement a value: --param name=value.',
    code: 'missing-parameter',
    cause,
  })

/** Keeps the words of the database. */
export const badSql = (cause: Error): InputError =>
  new InputError(`SQL: ${cause.message}.`, {
    hint: 'docs/schema.md lists tables, views and columns; so does `select * from data_dictionary`.',
    code: 'bad-sql',
    cause,
  })
