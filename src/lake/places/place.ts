import type { LakeFile, LakeManifest } from '../manifest.ts'
import type { WrittenFile } from '../parquet.ts'

/** What is wrong with a lake, in a sentence, with the file that it is about. */
export interface LakeFinding {
  readonly file: string
  readonly what: string
}

/** The files of one snapshot as they lie there. */
export interface HeldFiles {
  /** Bytes of a file; undefined where it is missing. */
  sizeOf(file: LakeFile): number | undefined
  /** SHA-256 of what a file holds, hex; every byte is read. */
  sha256Of(file: LakeFile): Promise<string>
}

/** The one who writes to a lake. */
export interface LakeWriter extends HeldFiles {
  /** The snapshot that holds; null while there is none. */
  readonly before: LakeManifest | null
  /** The folder of a snapshot with a number, for its manifest. */
  folderOf(snapshot: number): string
  /** Makes room for a snapshot; answers the folder of this machine in which its files are made. */
  stage(): string
  /** Takes a file of the snapshot that holds over into the new one. */
  keep(file: LakeFile): void
  /** Puts a file that was made into the new snapshot; answers its path, which begins with the name. */
  add(made: string, name: string, snapshot: number, written: WrittenFile): Promise<string>
  /** Makes the new snapshot the one that holds, in one step. */
  commit(manifest: LakeManifest): Promise<void>
  /** Puts another manifest of the same snapshot in its place, in one step. */
  confirm(manifest: LakeManifest): Promise<void>
  /** Removes what killed syncs left, and snapshots that were replaced so long ago that nobody reads them. */
  tidy(current: number, graceMs: number, now: number): Promise<void>
  /** What is to be known of this place, in a sentence; null for nothing. */
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
  /** The files of a snapshot, and what readers would take for files of it or not find. */
  look(manifest: LakeManifest): Promise<{ readonly files: HeldFiles; readonly findings: readonly LakeFinding[] }>
  /** Takes the lake for this process alone, or as far as the place knows such a thing; what is something else is refused and not touched. */
  write(now: number): Promise<LakeWriter>
  close(): void
}
