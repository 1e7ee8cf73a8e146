import type { LakeFile, LakeManifest } from '../manifest.ts'
import type { WrittenFile } from '../parquetFile.ts'

/** A fault of a lake, in a sentence, with the file that it is about. */
export interface LakeFinding {
  readonly file: string
  readonly what: string
}

/** The files of one snapshot, as they are stored. */
export interface StoredFiles {
  /** Bytes of a file; undefined where it is missing. */
  sizeOf(file: LakeFile): number | undefined
  /** SHA-256 of the content of a file, hex; every byte is read. */
  sha256Of(file: LakeFile): Promise<string>
  /** The number of rows by the file itself, where its end can be read alone. */
  rowsOf?(file: LakeFile): Promise<number>
}

/** The only writer of a lake, until it is closed. */
export interface LakeWriter extends StoredFiles {
  /** The current snapshot; null while there is none. */
  readonly before: LakeManifest | null
  /** The folder of a snapshot with a number, for its manifest. */
  folderOf(snapshot: number): string
  /** Makes room for a snapshot; returns the folder of this machine in which its files are made. */
  stage(): string
  /** Keeps a file of the current snapshot in the new one. */
  keep(file: LakeFile): void
  /** Adds a file to the new snapshot; returns its path, which begins with the name. */
  add(made: string, name: string, snapshot: number, written: WrittenFile): Promise<string>
  /** Makes the new snapshot the current one, in one step. */
  commit(manifest: LakeManifest): Promise<void>
  /** Replaces the manifest of the same snapshot, in one step. */
  confirm(manifest: LakeManifest): Promise<void>
  /** Removes what killed syncs left, and snapshots that were replaced so long ago that nobody reads them. */
  tidy(current: number, graceMs: number, now: number): Promise<void>
  /** What a user should know of this place, in a sentence; null for nothing. */
  readonly caution: string | null
  close(): void
}

/** Whether a name is that of a bucket. */
export const isBucket = (asWritten: string): boolean => /^s3:/i.test(asWritten)

/** Where a lake lies: a folder, or a bucket of an object storage. */
export interface LakePlace {
  readonly asWritten: string
  /** The manifest of the lake, whatever its schema; null where there is none of ours. */
  manifest(): Promise<LakeManifest | null>
  /** The files of a snapshot, with findings: files that readers would take for part of it, and files that they would miss. */
  look(manifest: LakeManifest): Promise<{ readonly files: StoredFiles; readonly findings: readonly LakeFinding[] }>
  /**
   * Locks the lake for this process, as far as the place supports that. Refuses anything that is not a lake, and does not touch
   * it.
   */
  write(now: number): Promise<LakeWriter>
  close(): void
}
