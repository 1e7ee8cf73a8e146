/** A process of a test: it asks the other thread something and ends as it is told. */
import { createWorkerClient } from '../../src/threads/client.ts'

const aside = createWorkerClient<string, string>(import.meta.url, 'obeying')
const [how] = process.argv.slice(2)
if (how === 'asking') {
  void aside.ask('never')
  process.exit(0)
}
process.stdout.write(String(await aside.ask(how ?? 'a')))
