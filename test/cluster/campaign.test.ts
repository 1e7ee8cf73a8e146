import { expect, test } from 'vitest'
import { serverUrl } from '../postgres/database.ts'
import { campaign } from './campaign.ts'

test('workers are killed and connections cut while two plans are carried out: the rows are those of an undisturbed run', async () => {
  const said: string[] = []
  const found = await campaign({
    ...{ kills: 2, workers: 2, days: 5, cuts: 1, restarts: 0, say: (text) => said.push(text) },
    server: { url: await serverUrl(), restart: null },
    random: Math.random,
  })
  expect(found, said.join('\n')).toMatchObject({ different: [], twice: 0 })
})
