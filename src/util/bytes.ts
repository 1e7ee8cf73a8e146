/** Bytes. Smaller buffers may share their memory with others. */
const LARGE_BYTES = 128 * 1024

/** Frees the memory of a large body at once; the garbage collector would wait. The body must not be read afterwards. */
export function release({ buffer, length }: Uint8Array): void {
  if (length >= LARGE_BYTES && buffer instanceof ArrayBuffer) buffer.transfer(0)
}
