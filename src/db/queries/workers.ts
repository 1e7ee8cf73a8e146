/** The command under which what workers do is recorded: several of them run at once. */
export const WORKER = 'worker'

/** Milliseconds between two heartbeats by which a worker shows that it is alive. */
export const BEAT_MS = 3_000
/** A worker without a heartbeat for this long is reported as silent: it was suspended or cut off, and may come back. */
export const SILENT_MS = 5 * BEAT_MS
/** A worker without a heartbeat for this long is dead: the runs that it left open are ended. */
export const DEAD_MS = 20 * BEAT_MS
