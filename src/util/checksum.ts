import { closeSync, openSync, readSync } from 'node:fs'

/** Node's cryptography, loaded with its first use, because most commands hash nothing. */
const crypto = (): typeof import('node:crypto') => process.getBuiltinModule('node:crypto')

/** The SHA-256 of bytes or text. */
export const sha256 = (data: string | Uint8Array, encoding: 'hex' | 'base64url' = 'hex'): string =>
  crypto().hash('sha256', data, encoding)

/** The SHA-256 of a file, hex. Reads it in pieces, because it may be large. */
export function sha256OfFile(file: string): string {
  const hash = crypto().createHash('sha256')
  const handle = openSync(file, 'r')
  try {
    const piece = Buffer.alloc(1 << 20)
    for (let read = readSync(handle, piece); read > 0; read = readSync(handle, piece))
      hash.update(piece.subarray(0, read))
  } finally {
    closeSync(handle)
  }
  return hash.digest('hex')
}
