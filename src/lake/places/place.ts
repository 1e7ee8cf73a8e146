import type { LakeFile, LakeManifest } from '../manifest.ts'
import type { WrittenFile } from '../parquetFile.ts'

/** A fault of a file of a lake, in a sentence. */
export interface LakeFinding {
  readonly file: string
  readonly what: string
}

/** The stored files of a snapshot. */
export interface StoredFiles {
  /** Bytes of a file; undefined if it is missing. */
  size(file: LakeFile): number | undefined
  /** SHA-256 of a file, hex. Reads every byte. */
  sha256(file: LakeFile): Promise<string>
  /** The number of rows that the file states, if its end can be read alone. */
  rows?(file: LakeFile): Promise<number>
}

/** The writer of a lake, which is locked until it is closed. */
export interface LakeWriter extends StoredFiles {
  /** The current snapshot; null if there is none. */
  readonly before: LakeManifest | null
  /** The folder of a snapshot, for its manifest. */
  folder(snapshot: number): string
  /** Makes a local folder for the files of a new snapshot. */
  stage(): string
  /** Keeps a file of the current snapshot in the new one. */
  keep(file: LakeFile): void
  /** Adds a local file to the new snapshot. Returns its path, which starts with the name. */
  add(file: string, name: string, snapshot: number, written: WrittenFile): Promise<string>
  /** Makes the new snapshot the current one, atomically. */
  commit(manifest: LakeManifest): Promise<void>
  /** Replaces the manifest of the current snapshot, atomically. */
  confirm(manifest: LakeManifest): Promise<void>
  /** Removes files of killed syncs, and snapshots that were replaced at least `graceMs` ago. */
  tidy(current: number, graceMs: number, now: number): Promise<void>
  /** A warning about the place, in a sentence; null for none. */
  readonly caution: string | null
  close(): void
}

/** Whether a place is a bucket. */
export const isBucket = (asWritten: string): boolean => /^s3:/i.test(asWritten)

/** The place of a lake: a folder, or a bucket of an object storage. */
export interface LakePlace {
  readonly asWritten: string
  /** The manifest of the lake, of any schema; null if there is none of ours. */
  manifest(): Promise<LakeManifest | null>
  /** The files of a snapshot, and findings about other files that readers would read. */
  inspect(manifest: LakeManifest): Promise<{ readonly files: StoredFiles; readonly findings: readonly LakeFinding[] }>
  /**
   * Opens the lake for writing, and locks it if the place supports that. Refuses anything but a lake without touching it.
   */
  write(now: number): Promise<LakeWriter>
  close(): void
}
