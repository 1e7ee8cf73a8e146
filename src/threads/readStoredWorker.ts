/** The worker of `readStored.ts`. */
import { SERVICES } from '../services/services.ts'
import { serveRequests } from './client.ts'
import { readStored, type SentReply, type StoredAnswer } from './readStored.ts'

serveRequests((sent: SentReply): { payload: StoredAnswer; transfer: ArrayBuffer[] } => {
  const { service } = sent.planned
  const planned = { ...sent.planned, service: typeof service === 'string' ? SERVICES[service] : service }
  return { payload: { rows: readStored({ ...sent, planned }) }, transfer: [] }
})
