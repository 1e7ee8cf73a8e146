import { InputError } from '../base/errors.ts'

/** The answer of a user's statement has a value that no program could show. */
export const valueTooLarge = (cause: unknown): InputError =>
  new InputError('A value or a row of the answer is too large to be read or written as text.', {
    hint: 'Ask for less of it: length(…), substr(…), or a column at a time; CSV tells how long a blob is.',
    code: 'value-too-large',
    cause,
  })
