import { existsSync } from 'node:fs'
import { watchSignals } from '../../../src/cli/terminal/signals.ts'

/* A command that hangs after a signal, in one of several ways, and reports its progress on stdout. */

const [how, go = ''] = process.argv.slice(2)
const forEver = (): never => {
  for (;;);
}
const { signal } = watchSignals(() => void process.stdout.write('signal.received\n'))
setInterval(() => undefined, 1000)
signal.addEventListener('abort', () => {
  process.stdout.write('aborted\n')
  if (how === 'exit') {
    process.on('exit', forEver)
    process.exit()
  }
  forEver()
})
process.stdout.write('ready\n')
// Both signals arrive before either is handled.
if (how === 'both') while (!existsSync(go));
