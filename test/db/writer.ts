/**
 * A process that takes the writer's lock of a database, says so, and writes a row whenever a line comes in; it ends with
 * its input. `node test/db/writer.ts FILE`; exit code 5 when another one writes, 7 when the file is not the same any more.
 */
import { createInterface } from 'node:readline'
import { exitCodeFor } from '../../src/cli/terminal/fail.ts'
import { openWriter } from '../store.ts'

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
