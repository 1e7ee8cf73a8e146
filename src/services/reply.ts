/** An answer of status 200 with its decoded body. */
export interface Reply {
  readonly status: number
  /** The body after content decoding. */
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
