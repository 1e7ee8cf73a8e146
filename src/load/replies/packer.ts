import { type Packed, pack } from '../../base/bytes/pack.ts'
import { sha256 } from '../../base/files/checksum.ts'

/** A body as the reply store keeps it. */
export interface PackedReply extends Packed {
  /** SHA-256 of the body, hex. */
  readonly hash: string
}

/** Hashes and packs a body. */
export const packReply = (body: Buffer): PackedReply => ({ hash: sha256(body), ...pack(body) })
