import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withClient } from '../postgres/create.ts'
import { accountOf } from '../postgres/server.ts'

/** A small disk with a tablespace, separate from the server's own files and WAL. */
export interface SmallDisk {
  /** The name of its tablespace. */
  readonly tablespace: string
  /** Fills the disk. */
  fill(): void
  /** Frees the space again. */
  free(): void
  close(): void
}

/** Creates a disk of a size for a server; null without the permission to mount. */
export async function makeDisk(server: string, mb: number): Promise<SmallDisk | null> {
  const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-disk-'))
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mb}m`, 'tmpfs', folder]).status !== 0) return null
  const close = (): void => {
    spawnSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', close)
  const place = join(folder, 'tables')
  const ballast = join(folder, 'ballast')
  mkdirSync(place)
  const { uid, gid } = accountOf()
  if (uid !== undefined) chownSync(place, uid, gid!)
  execFileSync('chmod', ['755', folder])
  await withClient(server, (client) => client.query(`create tablespace small location '${place}'`))
  return {
    tablespace: 'small',
    fill() {
      const file = openSync(ballast, 'w')
      try {
        for (const size of [1 << 20, 1 << 12])
          try {
            for (;;) writeSync(file, Buffer.alloc(size))
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
          }
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(ballast, { force: true }),
    close,
  }
}
