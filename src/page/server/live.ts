import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Changes } from '../../db/store.ts'

/** How often the database is checked while a browser listens, in milliseconds. */
const POLL_MS = 1_000
/** How often a line is sent, so that proxies keep the connection open. */
const BEAT_EVERY = 20
/** The most listeners: no user has so many windows open. */
const MOST_LISTENERS = 200

/** Notifies browsers of changes by server-sent events, so that they reload. */
export interface Live {
  follow(request: IncomingMessage, response: ServerResponse): void
  /** How many follow. */
  following(): number
  close(): void
}

/** Watches the database, once for all listeners, and only while there are any. */
export function createLive(changesOf: () => Changes): Live {
  const followers = new Set<ServerResponse>()
  let watch: { readonly timer: NodeJS.Timeout; readonly close: () => void } | undefined

  const send = (text: string): void => {
    for (const response of followers) response.write(text)
  }

  function begin(): void {
    const changes = changesOf()
    let beats = 0
    const timer = setInterval(() => {
      if (changes.changed()) send('event: changed\ndata: {}\n\n')
      else if (++beats % BEAT_EVERY === 0) send(': still here\n\n')
    }, POLL_MS)
    watch = {
      timer,
      close: () => {
        clearInterval(timer)
        changes.close()
      },
    }
  }

  function end(): void {
    watch?.close()
    watch = undefined
  }

  return {
    follow(request, response) {
      if (request.method === 'HEAD' || followers.size >= MOST_LISTENERS) {
        response.writeHead(request.method === 'HEAD' ? 200 : 503).end()
        return
      }
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
      response.write('retry: 3000\n\n')
      followers.add(response)
      response.once('close', () => {
        followers.delete(response)
        if (followers.size === 0) end()
      })
      if (!watch) begin()
    },
    following: () => followers.size,
    close() {
      end()
      for (const response of followers) response.end()
    },
  }
}
