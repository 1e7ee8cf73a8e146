import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { ROUTE_NAMES, routeOf } from '../src/api/routes.ts'
import { schemaText } from '../src/audit/dictionary.ts'
import { COMMANDS } from '../src/cli/commands.ts'
import { TABLE_NAMES, VIEWS } from '../src/tables/schema.ts'
import { tempFolder } from './kit.ts'

const read = (file: string) => readFileSync(file, 'utf8')
const manifest = JSON.parse(read('package.json'))
const lock = JSON.parse(read('package-lock.json'))

describe('what is installed', () => {
  test('npm compiles nothing: the lock file says that better-sqlite3 brings its binaries', () => {
    expect(lock.packages['node_modules/better-sqlite3'].gypfile).toBe(false)
    expect(manifest.allowScripts).toEqual({ 'better-sqlite3': false, node: true })
  })

  test('the lock file names no host, and belongs to the manifest', () => {
    expect(read('package-lock.json')).not.toMatch(/"resolved": "https?:/)
    expect(lock.packages[''].dependencies).toEqual(manifest.dependencies)
    expect(lock.packages[''].devDependencies).toEqual(manifest.devDependencies)
  })

  test('a package of it runs in an empty folder', () => {
    const folder = tempFolder()
    const node = process.execPath
    execFileSync(node, [
      resolve('node_modules/typescript/bin/tsc'),
      '-p',
      'tsconfig.build.json',
      '--outDir',
      join(folder, 'app/dist'),
    ])
    const app = join(folder, 'app')
    for (const file of ['package.json', 'src/cli/bin.js', ...readdirSync('jobs').map((name) => `jobs/${name}`)]) {
      mkdirSync(join(app, file, '..'), { recursive: true })
      writeFileSync(join(app, file), read(file))
    }
    for (const file of manifest.files)
      expect(['dist', 'src/cli/bin.js', 'jobs', 'docs', 'CHANGELOG.md']).toContain(file)
    execFileSync('ln', ['-s', resolve('node_modules'), join(app, 'node_modules')])
    const out = execFileSync(node, [join(app, 'src/cli/bin.js'), 'migrate'], { cwd: folder, encoding: 'utf8' })
    expect(out).toMatch(/has schema/)
    execFileSync(node, [join(app, 'src/cli/bin.js'), 'init'], { cwd: folder })
    execFileSync(
      node,
      [
        '-e',
        `import('indicator-sync').then(({ ROUTES }) => process.exit(ROUTES.widget ? 0 : 1))`,
        '--input-type=module',
      ],
      { cwd: app },
    )
    // The other threads are files of their own, which nothing imports; without them a load would be slow and say nothing.
    const at = (file: string): string => JSON.stringify(pathToFileURL(join(app, 'dist/src', file)).href)
    execFileSync(node, [
      '--input-type=module',
      '-e',
      `import { zstdCompressSync } from 'node:zlib'
       import { createAside } from ${at('base/aside.js')}
       const carrier = new ArrayBuffer(8)
       const arranged = await createAside(${at('read.js')}, 'reading').ask({ carrier, length: 8 }, [carrier])
       const packed = { form: 'zstd', bytes: zstdCompressSync('{"news":[]}') }
       const ask = { route: 'news', params: {}, locale: 'es', complete: true, geoIds: [], series: null, window: null }
       const reread = await createAside(${at('reread.js')}, 'rereading').ask({ packed, size: 11, outcome: 'ok', ask })
       process.exit(arranged?.form === 'zstd' && reread !== null ? 0 : 1)`,
    ])
  })
})

describe('what is written is true', () => {
  const readme = read('README.md')
  test('the README names every command, table, view and route', () => {
    for (const name of Object.keys(COMMANDS)) expect(readme, name).toContain(`\`${name}`)
    for (const name of [...TABLE_NAMES, ...Object.keys(VIEWS)]) expect(readme, name).toContain(`\`${name}\``)
    for (const name of ROUTE_NAMES) expect(readme, name).toContain(routeOf(name).path)
  })

  test('docs/schema.md is the declarations', () => expect(read('docs/schema.md')).toBe(schemaText()))

  test('no hint names a command that does not exist', () => {
    const files = (readdirSync('src', { recursive: true }) as string[]).filter((file) => file.endsWith('.ts'))
    for (const file of files)
      for (const [, name] of read(join('src', file)).matchAll(/indicator-sync ([a-z]+)\b(?=[ `"]|$)/gm))
        if (!['needs', 'knows'].includes(name!))
          expect(Object.keys(COMMANDS), `${file}: indicator-sync ${name}`).toContain(name)
  })
})
