import { closeSync, openSync, readSync } from 'node:fs'

/** Node's cryptography, loaded when it is first used: most nights nothing is hashed. */
const crypto = (): typeof import('node:crypto') => process.getBuiltinModule('node:crypto')

/** The SHA-256 of bytes or text, hex unless another encoding is named. */
export const sha256 = (data: string | Uint8Array, encoding: 'hex' | 'base64url' = 'hex'): string =>
  crypto().hash('sha256', data, encoding)

/** The SHA-256 of a file, hex; read piece by piece, however large it is. */
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
