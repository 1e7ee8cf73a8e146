/** The last answer to a request, whatever it was, and what it took. */
export interface LastAnswer {
  /** HTTP status; 0 where none came. */
  readonly status: number
  /** The body after content decoding; empty where none came. */
  readonly body: Buffer
  /** How long the body is, also when its memory has been freed. */
  readonly bytes: number
  /** How often the request was sent. */
  readonly attempts: number
  /** When it was first sent (epoch milliseconds). */
  readonly sentAt: number
  /** Milliseconds from the first sending to the last byte. */
  readonly ms: number
}

/** An answer of status 200 with its decoded body. */
export interface Reply extends LastAnswer {
  readonly status: 200
}
