import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createWorkerClient } from '../../src/threads/workerClient.ts'

const HERE = new URL('./here.ts', import.meta.url).href
const startWorker = (limits = {}) => createWorkerClient<string, string>(HERE, 'obeying', limits)

describe('another thread', () => {
  test('answers each question, and only that', async () => {
    const { request } = startWorker()
    expect(await Promise.all(['a', 'b', 'c'].map((one) => request(one)))).toEqual(['A', 'B', 'C'])
  })

  test.each([
    ['throws', 'throw', {}],
    ['leaves', 'exit', {}],
    ['has no memory left', 'fill the memory', { maxOldGenerationSizeMb: 20 }],
  ])('that %s answers nothing, and its successor is not orphaned by its late end', async (_name, order, limits) => {
    const { request } = startWorker(limits)
    expect(await request('a')).toBe('A')
    // Those that wait behind the deadly question are let go too.
    expect(await Promise.all([request(order), request('b')])).toEqual([null, null])
    // The end of the first thread is told while the second one is at work.
    for (const one of ['c', 'd', 'e', 'f']) expect(await request(one)).toBe(one.toUpperCase())
    expect(await request(order)).toBeNull()
    expect(await Promise.all(['g', 'h'].map((one) => request(one)))).toEqual(['G', 'H'])
  })

  test('that cannot begin is tried a few times, and then left', async () => {
    const { request } = createWorkerClient<string, string>(HERE, 'throwing')
    for (let i = 0; i < 6; i++) expect(await request('a')).toBeNull()
    const none = createWorkerClient<string, string>(HERE, 'no-such-file')
    expect(await none.request('a')).toBeNull()
  })

  test.each(['a', 'throw', 'exit', 'exit early'])('keeps no process: %s', async (how) => {
    const child = spawn(process.execPath, [resolve('test/threads/leaving.ts'), how])
    expect(await new Promise((done) => child.on('close', done))).toBe(0)
  })
})
