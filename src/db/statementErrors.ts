import { InputError } from '../util/errors.ts'

/** The answer of a user's statement has a value that no program could show. */
export const valueTooLarge = (cause: unknown): InputError =>
  new InputError('A value or a row of the answer is too large to be read or written as text.', {
    hint: 'Ask for less of it: length(…), substr(…), or one column at a time; CSV shows the length of a blob.',
    code: 'value-too-large',
    cause,
  })
