import { z } from 'zod'
import type { Service } from '../service/service.ts'
import { SERVICES } from '../service/services.ts'
import { jobFileOf } from './file/jobFile.ts'

/** The JSON schema of job files for a service, by which editors complete and check them. */
export const jobSchema = (service: Service = SERVICES.generic): object => ({
  title: 'indicator-sync job',
  ...z.toJSONSchema(jobFileOf(service), { target: 'draft-7', io: 'input' }),
})
