import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { tempFolder } from '../../support/kit.ts'
import { testSignals } from '../../support/systems.ts'

const HANGING = join(import.meta.dirname, 'busy.ts')

/** Starts a command that will hang, with access to its output. */
function hanging(how: string, go: string): { child: ChildProcess; said: (word: string) => Promise<void> } {
  const child = spawn(process.execPath, [HANGING, how, go], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  child.stdout!.on('data', (data) => {
    text += data
  })
  return {
    child,
    async said(word) {
      while (!text.includes(word)) await once(child.stdout!, 'data')
    },
  }
}

testSignals.each([
  ['the event loop is busy', 'loop'],
  ['the exit of the process is delayed', 'exit'],
])('a second signal ends the process while %s', async (_what, how) => {
  for (const [first, second] of [
    ['SIGINT', 'SIGINT'],
    ['SIGINT', 'SIGTERM'],
  ] as const) {
    const { child, said } = hanging(how, '')
    await said('ready')
    child.kill(first)
    await said('aborted')
    child.kill(second)
    expect(await once(child, 'exit')).toEqual([null, second])
  }
})

testSignals('the second of two signals during a busy event loop ends the process', async () => {
  const go = join(tempFolder(), 'go')
  const { child, said } = hanging('both', go)
  await said('ready')
  child.kill('SIGINT')
  child.kill('SIGTERM')
  writeFileSync(go, '')
  // The system delivers two pending signals in any order.
  expect(await once(child, 'exit')).toEqual([null, expect.stringMatching(/^SIG(?:INT|TERM)$/)])
})
