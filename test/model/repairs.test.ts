import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { MUTANTS } from './repairs.ts'

test.each(MUTANTS.flatMap(({ name, edits }) => edits.map((edit) => [name, edit] as const)))(
  'the text that brings a fault back is in the source: %s',
  (_name, { file, find }) => expect(readFileSync(file, 'utf8')).toContain(find),
)
