import { expect, onTestFinished, test } from 'vitest'
import { serverUrl } from '../postgres/database.ts'
import { campaign } from './campaign.ts'
import { hasPooler, startPooler } from './pooler.ts'

test('workers that are killed and disconnected load the same rows as an undisturbed run', async () => {
  const lines: string[] = []
  const url = await serverUrl()
  const pooler = hasPooler() ? await startPooler(url) : null
  onTestFinished(async () => pooler?.close())
  const found = await campaign({
    kills: 2,
    workers: 2,
    days: 5,
    cuts: 1,
    restarts: 0,
    say: (text) => lines.push(text),
    server: { url, restart: null },
    pooler,
    random: Math.random,
  })
  expect(found, lines.join('\n')).toMatchObject({ different: [] })
})
