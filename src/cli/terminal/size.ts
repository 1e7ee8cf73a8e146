import { InputError } from '../../base/errors.ts'

/** A number of bytes as people write it: 500kB, 100MB, 2GB, or plain. */
export function parseBytes(written: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)\s*(k|M|G)?B?$/i.exec(written.trim()) ?? []
  const factor = { k: 1e3, m: 1e6, g: 1e9 }[(unit ?? '').toLowerCase()] ?? 1
  if (number === undefined)
    throw new InputError(`${JSON.stringify(written)} is not a valid size.`, {
      hint: 'Write 500kB, 100MB or 2GB.',
      code: 'bad-size',
    })
  return Number(number) * factor
}
