/** The other thread of `reread.ts`. */
import type { StoredReply } from '../state/replies.ts'
import { serveRequests } from './client.ts'
import { type RereadAnswer, reread } from './reread.ts'

serveRequests((stored: StoredReply): { payload: RereadAnswer; transfer: ArrayBuffer[] } => ({
  payload: { rows: reread(stored) },
  transfer: [],
}))
