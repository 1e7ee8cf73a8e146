/** The worker of `readStored.ts`. */
import { SERVICES } from '../services/services.ts'
import { readStored, type SentReply, type StoredAnswer } from './readStored.ts'
import { serveRequests } from './workerClient.ts'

serveRequests((sent: SentReply): { payload: StoredAnswer; transfer: ArrayBuffer[] } => {
  const { service } = sent.planned
  const planned = { ...sent.planned, service: typeof service === 'string' ? SERVICES[service] : service }
  return { payload: { rows: readStored({ ...sent, planned }) }, transfer: [] }
})
