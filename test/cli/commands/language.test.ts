import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openFolderPlace } from '../../../src/lake/places/folder.ts'
import { syncLake } from '../../../src/lake/syncLake.ts'
import { rowsOf } from '../../lake/same.ts'
import { copyDemo } from '../../support/demoCopy.ts'
import { runCommand, tempFolder } from '../../support/kit.ts'
import { openReader } from '../../support/testStore.ts'

const NAMES = { en: 'Day-ahead spot market price', es: 'Precio mercado SPOT Diario' } as const

test('names appear in English or in the language of `migrate --language` in all outputs', async () => {
  const folder = tempFolder()
  const file = join(folder, 'market.db')
  await (await copyDemo(file)).close()
  const run = async (...args: string[]) => {
    const done = await runCommand(folder, args, { INDICATOR_SYNC_DATABASE: file })
    expect(done.code, done.err).toBe(0)
    return done.out
  }
  const expectNames = async (language: keyof typeof NAMES) => {
    const name = NAMES[language]
    expect(await run('query', 'select indicator_name from latest where indicator_id = 600')).toContain(name)
    expect(await run('export', '--indicator', '600', '--from', '2025-11-04')).toContain(name)
    expect(await run('show', '600')).toContain(name)
    expect(await run('discover', '600')).toContain(name)
    const titles = JSON.parse(await run('query', 'latest-news', '--json')) as {
      id: number
      title: string
    }[]
    const reader = openReader(file)
    try {
      for (const { id, title } of titles)
        expect(reader.all('select locale from news where id = ? and title = ?', [id, title])).toContainEqual({
          locale: language,
        })
      const lake = join(folder, `lake-${language}`)
      await syncLake(reader, openFolderPlace(lake), { program: 'test', nowMs: Date.now })
      expect((await rowsOf(lake, 'series')).map(({ row }) => row.name)).toContain(name)
    } finally {
      await reader.close()
    }
  }
  await expectNames('en')
  await run('migrate', '--language', 'es')
  await expectNames('es')
  await run('migrate', '--language', 'en')
  await expectNames('en')
})

test('a language that the service does not have is refused', async () => {
  const done = await runCommand(tempFolder(), ['migrate', '--language', 'fr'], {})
  expect(done).toMatchObject({ code: 2, err: expect.stringMatching(/language.*en/s) })
})
