/**
 * Acquires the write lock of a database, prints this, and writes a row for each input line until the input ends: `node
 * test/db/writer.ts FILE`. Exit code 5: another writer; 7: the file was replaced.
 */
import { createInterface } from 'node:readline'
import { exitCodeFor } from '../../src/cli/terminal/fail.ts'
import { openWriter } from '../support/testStore.ts'

const say = (text: string) => process.stdout.write(`${text}\n`)
try {
  const store = await openWriter(process.argv[2]!, 'writer of a test')
  try {
    say(`holds ${store.get('select fence from _lock')}`)
    for await (const line of createInterface({ input: process.stdin })) {
      await store.write(async () => store.run('insert into geo (id) values (?)', [Number(line)]))
      say(`wrote ${line}`)
    }
  } finally {
    await store.close()
  }
} catch (error) {
  say((error as Error).message)
  process.exitCode = exitCodeFor(error)
  process.stdin.destroy()
}
