import { getEventListeners } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { runInChild } from '../../../src/cli/jobs/childRun.ts'

test.each([
  ['does not exist', { execPath: '/nowhere/node' }, 'no-process', /did not start \(spawn \/nowhere\/node ENOENT\)/],
  ['cannot take the arguments', { argv: ['node', 'a\0b'] }, 'bug', /Internal error/],
])('a child process that %s counts as a run that could not start', async (_, change, code, reason) => {
  const before = { execPath: process.execPath, argv: process.argv }
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => {
    Object.assign(process, before)
    vi.useRealTimers()
  })
  Object.assign(process, change)
  const { signal } = new AbortController()
  const ended = await runInChild(0, { stallMs: 1000, signals: { signal, code: () => undefined } })
  expect(ended).toMatchObject({ refused: { code, reason: expect.stringMatching(reason) } })
  expect(vi.getTimerCount()).toBe(0)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
