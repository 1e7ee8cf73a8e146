/** The other thread of `reread.ts`. */
import type { StoredReply } from '../state/replies.ts'
import { serveRequests } from './client.ts'
import { type RereadAnswer, reread } from './reread.ts'

serveRequests((stored: StoredReply): { said: RereadAnswer; moved: ArrayBuffer[] } => ({
  said: { rows: reread(stored) },
  moved: [],
}))
