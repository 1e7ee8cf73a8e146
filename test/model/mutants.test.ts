import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { MUTANTS } from './formerFaults.ts'

test.each(MUTANTS.flatMap(({ name, edits }) => edits.map((edit) => ({ name, ...edit }))))(
  'the fault "$name" still applies to $file',
  ({ file, find }) => {
    expect(readFileSync(file, 'utf8').split(find).length).toBeGreaterThan(1)
  },
)
