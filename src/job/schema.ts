import { z } from 'zod'
import { jobFile } from './file.ts'

/** The JSON schema of a job file, by which editors complete and check it. */
export const jobSchema = (): object => ({
  title: 'indicator-sync job',
  ...z.toJSONSchema(jobFile, { target: 'draft-7', io: 'input' }),
})
