import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { InputError, StoreError } from '../base/errors.ts'
import { type DuckConnection, duckText, duckWords, loadDuckDb } from './duckdb.ts'
import { requireManifest } from './manifest.ts'

/** Loads an extension of DuckDB, which downloads it where this machine does not have it yet. */
async function loadExtension(connection: DuckConnection, name: string): Promise<void> {
  try {
    await connection.run(`load ${name}`)
  } catch {
    try {
      await connection.run(`install ${name}`)
      await connection.run(`load ${name}`)
    } catch (error) {
      throw new InputError(`DuckDB has no extension ${name}, and cannot fetch it: ${duckWords(error)}`, {
        hint: `Run install ${name} in DuckDB once where there is a network, or put the file of it below ~/.duckdb/extensions: docs/lake.md says how. The lake itself is up to date.`,
        code: 'no-extension',
        cause: error,
      })
    }
  }
}

/**
 * Registers the files of a lake's snapshot with a DuckLake catalogue (a file or a database of PostgreSQL) in one transaction;
 * nothing is copied. Returns false where the catalogue has that snapshot already.
 */
export async function registerFiles(lake: string, catalogue: string): Promise<boolean> {
  const { folder, snapshot, created_at, tables } = requireManifest(lake)
  const root = realpathSync(join(lake, folder))
  const message = `snapshot ${snapshot} of ${created_at}`
  const isPostgres = /^postgres(ql)?:/.test(catalogue)
  const { DuckDBInstance } = await loadDuckDb('--ducklake')
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    for (const name of isPostgres ? ['postgres', 'ducklake'] : ['ducklake']) await loadExtension(connection, name)
    const address = duckText(`ducklake:${isPostgres ? 'postgres:' : ''}${catalogue}`)
    await connection.run(`attach ${address} as lake (data_path ${duckText(join(realpathSync(lake), 'ducklake'))})`)
    const last = await connection.runAndReadAll(
      'select commit_message from lake.snapshots() order by snapshot_id desc limit 1',
    )
    if (last.getRowsJson()[0]?.[0] === message) return false
    await connection.run('begin')
    for (const [name, { files, partitioned_by }] of Object.entries(tables)) {
      const paths = files.map(({ path }) => duckText(join(root, path)))
      const hive = partitioned_by.length > 0
      await connection.run(`drop table if exists lake.${name}`)
      await connection.run(
        `create table lake.${name} as from read_parquet(${paths[0]}, hive_partitioning = ${hive}) limit 0`,
      )
      for (const path of paths)
        await connection.run(`call ducklake_add_data_files('lake', '${name}', ${path}, hive_partitioning => ${hive})`)
    }
    await connection.run(`call lake.set_commit_message('indicator-sync', ${duckText(message)})`)
    await connection.run('commit')
    return true
  } catch (error) {
    if (error instanceof InputError || !(error instanceof Error)) throw error
    throw new StoreError(`The DuckLake catalogue was not written: ${duckWords(error)}`, {
      hint: 'It is unchanged, and the lake itself is up to date. Repair it and run the command again.',
      code: 'ducklake',
      cause: error,
    })
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
