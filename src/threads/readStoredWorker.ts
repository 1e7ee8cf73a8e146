/** The worker of `readStored.ts`. */
import type { StoredReply } from '../state/replies.ts'
import { serveRequests } from './client.ts'
import { readStored, type StoredAnswer } from './readStored.ts'

serveRequests((stored: StoredReply): { payload: StoredAnswer; transfer: ArrayBuffer[] } => ({
  payload: { rows: readStored(stored) },
  transfer: [],
}))
