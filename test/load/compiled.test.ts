import { DefaultQueryCompiler } from 'kysely'
import { expect, test, vi } from 'vitest'
import { emulate, runJob, tempStore } from '../kit.ts'

const JOB = `name: compiled
pace: { perSecond: 50 }
locales: [en, es]
catalogue: true
series:
  - indicators: [600, 1001]
    chunk: 1d
    window: { from: 2025-10-25, to: 2025-11-02 }
content:
  - kinds: [news, glossaries]
archives:
  - window: { from: 2025-10-25, to: 2025-11-02 }
widgets: { list: true }
`

test('a statement that runs for every reply is compiled once, not once a reply', async () => {
  const server = await emulate({ now: Date.parse('2025-11-04T12:00:00Z') / 1000 })
  const store = await tempStore()
  const compiled = new Map<string, number>()
  const compile = vi.spyOn(DefaultQueryCompiler.prototype, 'compileQuery')
  const summary = await runJob(store, server, JOB, { now: Date.parse('2025-11-04T12:00:00Z') })
  for (const { value } of compile.mock.results) compiled.set(value.sql, (compiled.get(value.sql) ?? 0) + 1)
  compile.mockRestore()
  expect(summary.outcome).toBe('done')
  expect(summary.counts.requests).toBeGreaterThan(30)
  // What runs once a listing or once a job may be compiled as often as there are those.
  expect([...compiled].filter(([, times]) => times > 8)).toEqual([])
})
