import { existsSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder } from '../../../src/util/files/targetFolder.ts'
import { tempFolder } from '../../support/kit.ts'
import { testLinks } from '../../support/systems.ts'

test('makeFolder creates missing parent folders and accepts an existing folder', () => {
  const folder = join(tempFolder(), 'a/b/c')
  makeFolder(folder)
  makeFolder(folder)
  expect(statSync(folder).isDirectory()).toBe(true)
})

testLinks('a failed makeFolder reports the reason and the fix', () => {
  const root = tempFolder()
  writeFileSync(join(root, 'file'), '')
  symlinkSync(join(root, 'nowhere'), join(root, 'link'))
  for (const [folder, why] of [
    [join(root, 'file/lake'), 'is below something that is not a folder (ENOTDIR)'],
    [join(root, 'file'), 'already exists (EEXIST)'],
    [join(root, 'link'), 'already exists (EEXIST)'],
    [join(root, 'x'.repeat(300)), 'has a name that is too long (ENAMETOOLONG)'],
  ] as const)
    expect(() => makeFolder(folder)).toThrow(
      expect.objectContaining({
        message: `Cannot create the folder ${folder}: ${folder} ${why}.`,
        hint: expect.stringContaining('Choose a folder'),
        code: 'cannot-write',
      }),
    )
})

// No user, including root, can create folders there.
test.runIf(existsSync('/proc/self'))('makeFolder fails immediately on a file system without folders', () => {
  expect(() => makeFolder('/proc/lake/new')).toThrow(
    /Cannot create the folder \/proc\/lake\/new: \/proc\/lake (does not exist|is on a read-only file system|is not accessible)/,
  )
})
