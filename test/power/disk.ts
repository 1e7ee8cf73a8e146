/** Computes the contents of a disk after a loss of power, from a record of writes and syncs (shim.c). */

/** One operation on a file. */
export interface Op {
  readonly kind: 'O' | 'W' | 'T' | 'S' | 'U'
  /** 0: the database, 1: its WAL, 2: its rollback journal, 3: their folder. */
  readonly file: number
  readonly offset: number
  readonly bytes: Buffer
}

export const ENDINGS = ['', '-wal', '-journal'] as const
const FOLDER = 3

/** Reads the record of the shim. */
export function readOps(record: Buffer): Op[] {
  const ops: Op[] = []
  for (let at = 0; at < record.length; ) {
    const length = record.readUInt32LE(at + 10)
    const kind = String.fromCharCode(record[at]!) as Op['kind']
    const offset = Number(record.readBigInt64LE(at + 2))
    ops.push({ kind, file: record[at + 1]!, offset, bytes: record.subarray(at + 14, at + 14 + length) })
    at += 14 + length
  }
  return ops
}

/** A file from creation to deletion: its synced data, unsynced data, and whether its name is synced. */
interface DiskFile {
  data: Buffer
  size: number
  pending: Op[]
  named: boolean
  removed: 'no' | 'perhaps' | 'surely'
}

const SECTOR = 512

function apply(diskFile: DiskFile, { kind, offset, bytes }: Op): void {
  if (kind === 'T') {
    if (offset < diskFile.size) diskFile.data.fill(0, offset, diskFile.size)
    diskFile.size = offset
  }
  const end = kind === 'W' ? offset + bytes.length : diskFile.size
  if (end > diskFile.data.length) {
    const larger = Buffer.alloc(Math.max(end, diskFile.data.length * 2, 65_536))
    diskFile.data.copy(larger)
    diskFile.data = larger
  }
  if (kind === 'W') bytes.copy(diskFile.data, offset)
  diskFile.size = Math.max(diskFile.size, end)
}

/** How much unsynced data is lost. */
export interface Loss {
  /** Probability that an unsynced operation remains, from 0 to 1. */
  readonly keeps: number
  readonly random: () => number
}

/** No loss, as after a killed process. */
export const NO_LOSS: Loss = { keeps: 1, random: () => 0.5 }

/**
 * Returns the files after a loss of power before an operation. Synced data remains. Each later write, truncation,
 * creation and removal is kept or lost independently, and a write may be cut at a sector.
 */
export function afterLoss(ops: readonly Op[], cut: number, start: readonly (Buffer | null)[], { keeps, random }: Loss) {
  const diskFiles = ENDINGS.map((_, file): DiskFile[] => {
    const data = start[file] ?? null
    return data ? [{ data: Buffer.from(data), size: data.length, pending: [], named: true, removed: 'no' }] : []
  })
  const stays = (): boolean => keeps === 1 || random() < keeps
  for (const op of ops.slice(0, cut)) {
    if (op.file === FOLDER) {
      if (op.kind !== 'S') continue
      for (const diskFile of diskFiles.flat()) {
        diskFile.named = true
        if (diskFile.removed === 'perhaps') diskFile.removed = 'surely'
      }
      continue
    }
    const own = diskFiles[op.file]!
    if (op.kind === 'O') own.push({ data: Buffer.alloc(0), size: 0, pending: [], named: false, removed: 'no' })
    const diskFile = own.at(-1)
    if (!diskFile) continue
    if (op.kind === 'U') diskFile.removed = 'perhaps'
    else if (op.kind === 'S') {
      for (const pending of diskFile.pending) apply(diskFile, pending)
      diskFile.pending = []
    } else if (op.kind !== 'O') diskFile.pending.push(op)
  }
  return diskFiles.map((own): Buffer | null => {
    const diskFile = own.findLast(({ named, removed }) => {
      const there = named || stays()
      const gone = removed === 'surely' || (removed === 'perhaps' && stays())
      return there && !gone
    })
    if (!diskFile) return null
    for (const op of diskFile.pending) {
      if (!stays()) continue
      const torn = op.kind === 'W' && keeps < 1 && random() < 0.1
      const length = torn ? Math.floor((random() * op.bytes.length) / SECTOR) * SECTOR : op.bytes.length
      apply(diskFile, { ...op, bytes: op.bytes.subarray(0, length) })
    }
    return diskFile.data.subarray(0, diskFile.size)
  })
}
