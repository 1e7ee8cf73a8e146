import { InputError } from '../util/errors.ts'

/* Statements of users and their errors, for both databases. */

/** Quotes a name that a user chose. */
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`

export const createTakenNameError = (name: string): InputError =>
  new InputError(`The database already has a table or view ${name}.`, {
    hint: 'Pass --with NAME=FILE with another name.',
    code: 'taken-name',
  })

export const createValueTooLargeError = (cause: unknown): InputError =>
  new InputError('A value or a row of the result is too large to be read or written as text.', {
    hint: 'Select less of it: length(…), substr(…), or one column at a time; CSV shows the length of a blob.',
    code: 'value-too-large',
    cause,
  })

export const createNoRowsError = (): InputError =>
  new InputError('The statement does not return rows, and queries are read-only.', {
    hint: 'Use a SELECT statement.',
    code: 'no-rows',
  })

export const createWritingError = (cause: unknown): InputError =>
  new InputError('This statement writes, but queries are read-only.', { code: 'no-writing', cause })

export const createSeveralStatementsError = (cause: unknown): InputError =>
  new InputError('The SQL contains more than one statement.', {
    hint: 'Run one statement at a time.',
    code: 'several-statements',
    cause,
  })

export const createMissingParameterError = (message: string, cause: unknown): InputError =>
  new InputError(message, {
    hint: 'Pass a value for each :name in the statement: --param name=value.',
    code: 'missing-parameter',
    cause,
  })

export const createSqlError = (cause: Error): InputError =>
  new InputError(`SQL: ${cause.message}.`, {
    hint: 'For tables, views and columns, see docs/schema.md or `select * from data_dictionary`.',
    code: 'bad-sql',
    cause,
  })
