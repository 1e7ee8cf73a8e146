import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** The number of rows in the description at the end of a file; the length of that description comes before the last four bytes. */
export async function rowsInFooter(file: string): Promise<number> {
  const { parquetMetadata } = await import('hyparquet')
  const handle = openSync(file, 'r')
  try {
    const { size } = fstatSync(handle)
    const read = (bytes: number): Buffer => {
      const piece = Buffer.alloc(Math.min(bytes, size))
      readSync(handle, piece, 0, piece.length, size - piece.length)
      return piece
    }
    const end = read(read(8).readUInt32LE(0) + 8)
    return Number(parquetMetadata(new Uint8Array(end).buffer).num_rows)
  } finally {
    closeSync(handle)
  }
}
