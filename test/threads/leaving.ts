/** A process of a test: it asks the other thread something and ends as it is told. */
import { createWorkerClient } from '../../src/threads/workerClient.ts'

const worker = createWorkerClient<string, string>(import.meta.url, 'obeying')
const [how] = process.argv.slice(2)
if (how === 'exit early') {
  void worker.request('never')
  process.exit(0)
}
process.stdout.write(String(await worker.request(how ?? 'a')))
