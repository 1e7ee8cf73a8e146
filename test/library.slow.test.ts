import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { BusyError, openDatabase } from '../src/index.ts'
import { compileStrictly, installPacked, runNode } from './support/installPacked.ts'
import { emulate, runJob, tempFolder } from './support/kit.ts'

const page = readFileSync('docs/library.md', 'utf8')
const blocks = [...page.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, text]) => text!)

describe('the package as a library', () => {
  test('the library compiles under the strictest settings, and the documented example runs', () => {
    const folder = tempFolder()
    installPacked(folder)
    writeFileSync(join(folder, 'short.ts'), blocks[0]!)
    writeFileSync(join(folder, 'example.ts'), blocks[1]!)
    writeFileSync(join(folder, 'service.ts'), blocks.find((text) => text.includes('my-service'))!)
    writeFileSync(
      join(folder, 'all.ts'),
      "import * as all from 'indicator-sync'\nexport const names = Object.keys(all)\n",
    )
    expect(compileStrictly(folder, ['short.ts', 'example.ts', 'service.ts', 'all.ts'])).toBe('')
    // The short example reads its key from the environment, which has none.
    expect(() => runNode(folder, ['short.ts'])).toThrow(/The API key \(from the option key\) is empty/)
    const out = runNode(folder, ['example.ts'])
    expect(out).toMatch(/^plan: indicator missing \/indicators\/600\?/m)
    expect(out).toMatch(/^done \d+ new rows$/m)
    expect(out).toMatch(/^2025-11-01 \d+/m)
    expect(out).toMatch(/^\d+ rows exported$/m)
    expect(out).toMatch(/^288 values published$/m)
    const listed = [...page.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell]) =>
      [...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name!),
    )
    const names = runNode(folder, [
      '--input-type=module',
      '-e',
      "console.log(Object.keys(await import('indicator-sync')).join())",
    ])
    for (const name of listed) expect(names.trim().split(','), name).toContain(name)
  })
})

test('openDatabase locks the database for writing until it is closed', async () => {
  const file = join(tempFolder(), 'x.db')
  const emulator = await emulate()
  const first = await openDatabase(file, { name: 'my program' })
  await expect(openDatabase(file)).rejects.toThrow(/my program/)
  await expect(openDatabase(file)).rejects.toBeInstanceOf(BusyError)
  expect((await runJob(first, emulator, 'catalogue: true\n')).outcome).toBe('done')
  await first.close()
  // @ts-expect-error A sync into a published copy would write into temporary tables.
  openDatabase satisfies (file: string, options: { allowsCopies: boolean }) => unknown
  const second = await openDatabase(file)
  onTestFinished(() => second.close())
  expect((await runJob(second, emulator, 'catalogue: true\n')).outcome).toBe('done')
})
