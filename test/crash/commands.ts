/** Commands to kill, and the expected state when they run again. */
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect } from '../../src/db/sqlite/connection.ts'
import { listFiles } from '../../src/lake/manifest.ts'
import { openFolderPlace } from '../../src/lake/places/folder.ts'
import { syncLake } from '../../src/lake/syncLake.ts'
import { requireManifest } from '../lake/same.ts'
import { openReader } from '../support/testStore.ts'
import { contents } from './harness.ts'

/** A command with its preparation and checks. */
export interface Scenario {
  /** Prepares an empty folder. */
  readonly prepare: (folder: string) => Promise<void> | void
  readonly args: (folder: string) => readonly string[]
  /** Returns the result, which must be the same with and without kills. Throws if something is incomplete. */
  readonly result: (folder: string) => unknown
  /** Checks what may be visible at any time, also right after a kill. Throws otherwise. */
  readonly glance: (folder: string) => void
}

const lake = (folder: string): string => join(folder, 'lake')

/** Returns the files of a lake by its manifest or symlink. Throws if they are not as written. */
function snapshotOf(folder: string): string[] {
  const manifest = requireManifest(folder)
  const place = existsSync(join(folder, manifest.folder)) ? join(folder, manifest.folder) : folder
  const there = files(place)
  for (const { path, sha256 } of listFiles(manifest))
    if (there[path] !== sha256) throw new Error(`${path} is not whole`)
  const paths = listFiles(manifest).map(({ path }) => path)
  const read = Object.keys(there).filter((name) => name.endsWith('.parquet'))
  if (read.join() !== [...paths].sort().join()) throw new Error(`other files: ${read}`)
  return paths
}

const database = (folder: string): string => join(folder, 'x.db')

/** Returns the rows of an intact database. */
function whole(file: string): unknown {
  const { rest, health } = contents(file)
  if (JSON.stringify(health) !== '["ok"]') throw new Error(`${file}: ${JSON.stringify(health)}`)
  return rest
}

/** Throws if a copy is incomplete. */
function sound(file: string): void {
  const reader = openReader(file)
  try {
    const says = reader.get('pragma integrity_check')
    if (says !== 'ok') throw new Error(`${file}: ${says}`)
  } finally {
    void reader.close()
  }
}

/** Returns every file of a folder with its checksum, including unexpected names. */
const files = (folder: string): Record<string, string> =>
  Object.fromEntries(
    (readdirSync(folder, { recursive: true }) as string[])
      .filter((name) => statSync(join(folder, name)).isFile())
      .sort()
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex'),
      ]),
  )

/** Returns the names in a folder without the sidecar files of SQLite and the lock. */
const names = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => !/^(x|new)\.db(-wal|-shm|\.lock)$/.test(name))
    .sort()

/** Returns the scenarios for a filled database, given the URL of a file server. */
export function scenarios(filled: string, url: string): Record<string, Scenario> {
  const copy = (folder: string): void => copyFileSync(filled, database(folder))
  const common = (folder: string) => ['--database', database(folder), '--quiet']
  const healthy = (folder: string): void => void whole(database(folder))
  return {
    'replay in place': {
      prepare: copy,
      args: (folder) => ['replay', ...common(folder)],
      result: (folder) => [names(folder), whole(database(folder))],
      glance: healthy,
    },
    'replay --output': {
      prepare: copy,
      args: (folder) => ['replay', '--output', join(folder, 'new.db'), ...common(folder)],
      result: (folder) => [names(folder), whole(join(folder, 'new.db'))],
      glance: (folder) => void (existsSync(join(folder, 'new.db')) && whole(join(folder, 'new.db'))),
    },
    migrate: {
      prepare: () => undefined,
      args: (folder) => ['migrate', ...common(folder)],
      result: (folder) => [names(folder), whole(database(folder))],
      glance: () => undefined,
    },
    prune: {
      prepare: copy,
      args: (folder) => ['prune', '1d', ...common(folder)],
      result: (folder) => [names(folder), whole(database(folder))],
      glance: healthy,
    },
    publish: {
      prepare: copy,
      args: (folder) => ['publish', '--overwrite', join(folder, 'public.db'), ...common(folder)],
      result: (folder) => {
        const manifest = JSON.parse(readFileSync(join(folder, 'public.db.manifest.json'), 'utf8'))
        if (manifest.sha256 !== files(folder)['public.db']) throw new Error('the manifest is of another file')
        sound(join(folder, 'public.db'))
        return [names(folder), manifest.rows]
      },
      glance: (folder) => void (existsSync(join(folder, 'public.db')) && sound(join(folder, 'public.db'))),
    },
    'lake sync': {
      async prepare(folder) {
        copy(folder)
        // The sync that may be killed deletes the first snapshot, which was replaced two hours ago.
        for (const hours of [3, 2]) {
          const reader = openReader(database(folder))
          const now = () => Date.now() - hours * 3_600_000
          await syncLake(reader, openFolderPlace(lake(folder)), { program: 'test', nowMs: now })
          await reader.close()
          const { raw } = connect(database(folder))
          // Different values each time, because one fetch revises a value once.
          const rest = hours === 3 ? 0 : 3600
          raw.exec(`update observation set value = value + 1 where at % 7200 = ${rest}; update _day set min = min + 1`)
          raw.close()
        }
      },
      args: (folder) => ['lake', 'sync', lake(folder), ...common(folder)],
      result: (folder) => [names(folder), readdirSync(lake(folder)).sort(), snapshotOf(lake(folder))],
      glance: (folder) => void [snapshotOf(lake(folder)), snapshotOf(join(lake(folder), 'current'))],
    },
    'archives download': {
      prepare: (folder) => {
        copy(folder)
        writeFileSync(join(folder, 'key'), 'k'.repeat(64))
        writeFileSync(join(folder, 'pace.yaml'), 'name: pace\npace: { perSecond: 50 }\ncatalogue: true\n')
      },
      args: (folder) => [
        ...['archives', 'download', '40', '--job', join(folder, 'pace.yaml'), '--base-url', url],
        ...['--api-key-file', join(folder, 'key'), '--limit', '0', ...common(folder)],
      ],
      result: (folder) => [names(folder), files(join(folder, 'archives'))],
      glance: (folder) => {
        const all = existsSync(join(folder, 'archives')) ? files(join(folder, 'archives')) : {}
        for (const [name, sum] of Object.entries(all))
          if (/^..\/[0-9a-f]{64}$/.test(name) && name.slice(3) !== sum) throw new Error(`${name} is not what it says`)
      },
    },
  }
}

/** Serves a file at every path, in chunks. */
export async function serveFiles(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/plain', ETag: `"${request.url!.length}"` })
    response.write(`${request.url}\n`.repeat(2_000))
    setTimeout(() => response.end(`${request.url}\n`.repeat(2_000)), 5)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
