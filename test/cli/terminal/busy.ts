import { existsSync } from 'node:fs'
import { watchSignals } from '../../../src/cli/terminal/signals.ts'

/* A command that hangs once it is told to stop, in one of several ways; it says on stdout how far it is. */

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
// Both signals come before either can be looked at.
if (how === 'both') while (!existsSync(go));
