import { readFileSync } from 'node:fs'
import { endModel, hooks, runSequence } from './run.ts'

const seq = JSON.parse(readFileSync(process.argv[2]!, 'utf8'))
hooks.after = (scene) => {
  const s = scene.program.store()
  for (const q of process.argv.slice(3))
    process.stdout.write(JSON.stringify(s.all(q), null, 0).replaceAll('},{', '},\n{') + '\n')
}
try {
  await runSequence(seq, { comparisons: 0, steps: 0, requests: 0 })
} catch (e) {
  process.stdout.write(String(e) + '\n')
}
await endModel()
