import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../src/cli/commands.ts'
import { schemaText } from '../src/products/dictionary.ts'
import { ROUTE_NAMES, routeOf } from '../src/services/routes.ts'
import { TABLE_NAMES, VIEWS } from '../src/tables/schema.ts'
import { STALE } from './docs/pages.ts'
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

  test('npm finds nothing to change in a clone: what it makes executable is executable already', () => {
    for (const file of Object.values(manifest.bin as Record<string, string>))
      expect(statSync(file).mode & 0o100, file).toBe(0o100)
    // Only a list of pages is linked where `man` finds them.
    for (const page of manifest.man as string[]) expect(statSync(page).size).toBeGreaterThan(0)
    expect(Array.isArray(manifest.man)).toBe(true)
  })

  test('an install on an older Node is one line: the runtime that comes with the packages is the right one', () => {
    expect(read('.npmrc')).toMatch(/^loglevel=error$/m)
    expect(manifest.devDependencies.node).toMatch(/^\^2[4-9]/)
    // A script that npm would run at an install is one that it warns of, wherever the package is installed from a file.
    for (const name of ['preinstall', 'install', 'postinstall', 'prepare'])
      expect(manifest.scripts).not.toHaveProperty(name)
  })

  test('a package of it runs in an empty folder', () => {
    const folder = tempFolder()
    const node = process.execPath
    for (const project of ['tsconfig.build.json', 'src/page/client'])
      execFileSync(node, [
        ...[resolve('node_modules/typescript/bin/tsc'), '-p', project, '--noEmit', 'false'],
        ...['--outDir', join(folder, 'app/dist')],
      ])
    const app = join(folder, 'app')
    execFileSync(node, ['build/packages.ts', join(app, 'dist')])
    for (const file of ['package.json', 'src/cli/bin.js', ...readdirSync('jobs').map((name) => `jobs/${name}`)]) {
      mkdirSync(join(app, file, '..'), { recursive: true })
      writeFileSync(join(app, file), read(file))
    }
    for (const file of manifest.files)
      expect(['dist', 'src/cli/bin.js', 'jobs', 'docs', 'CHANGELOG.md']).toContain(file)
    execFileSync('ln', ['-s', resolve('node_modules'), join(app, 'node_modules')])
    const out = execFileSync(node, [join(app, 'src/cli/bin.js'), 'migrate'], { cwd: folder, encoding: 'utf8' })
    expect(out).toMatch(/has schema/)
    // Packages of many modules are a file each, and none is loaded beside it.
    for (const file of globSync('dist/{src,migrations}/**/*.js', { cwd: app }))
      expect(read(join(app, file)), file).not.toMatch(/^import .* from '(kysely|yaml|zod)/m)
    for (const name of ['kysely', 'yaml', 'zod'])
      expect(read(join(app, 'dist/packages/LICENSES'))).toContain(
        `${name} ${lock.packages[`node_modules/${name}`].version}`,
      )
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
    // What runs in the browser is read from its folder, and is JavaScript there.
    const served = execFileSync(
      node,
      [
        '--input-type=module',
        '-e',
        `import { assets } from ${JSON.stringify(pathToFileURL(join(app, 'dist/src/page/assets.js')).href)}
         const { names, read } = assets()
         const files = names.map(async (name) => [name, String((await read(name)).body)])
         process.stdout.write(JSON.stringify(await Promise.all(files)))`,
      ],
      { encoding: 'utf8' },
    )
    const files = new Map(JSON.parse(served) as [string, string][])
    expect([...files.keys()].filter((name) => name.endsWith('.ts'))).toEqual([])
    for (const file of readdirSync('src/page/client').filter((name) => name.endsWith('.ts')))
      expect([...files.keys()]).toContain(file.replace('.ts', '.js'))
    expect(files.get('series.js')).toMatch(/from '\.\/chart\.js'/)
    // The other threads are files of their own, which nothing imports; without them a load would be slow and say nothing.
    const at = (file: string): string => JSON.stringify(pathToFileURL(join(app, 'dist/src', file)).href)
    execFileSync(node, [
      '--input-type=module',
      '-e',
      `import { zstdCompressSync } from 'node:zlib'
       import { createWorkerClient } from ${at('threads/client.js')}
       import { SERVICES } from ${at('services/services.js')}
       const buffer = new ArrayBuffer(1024)
       const arranged = await createWorkerClient(${at('threads/read.js')}, 'readWorker').request({ buffer, length: 8 }, [buffer])
       const packed = { form: 'zstd', bytes: zstdCompressSync('{"news":[]}') }
       const planned = { route: 'news', params: {}, locale: 'es', complete: true, geoIds: [], series: null, window: null, service: SERVICES.generic }
       const readStored = await createWorkerClient(${at('threads/readStored.js')}, 'readStoredWorker').request({ packed, size: 11, outcome: 'ok', planned })
       process.exit(arranged?.form === 'zstd' && readStored !== null ? 0 : 1)`,
    ])
  })
})

describe('what is written is true', () => {
  const readme = read('README.md')
  test('the README names every command, docs/tables.md every table, view and route', () => {
    for (const name of Object.keys(COMMANDS)) expect(readme, name).toContain(`\`${name}`)
    const tables = read('docs/tables.md')
    for (const name of [...TABLE_NAMES, ...Object.keys(VIEWS)]) expect(tables, name).toContain(`\`${name}\``)
    for (const name of ROUTE_NAMES) expect(tables, name).toContain(routeOf(name).path)
  })

  test('every page that a page points to is there', () => {
    const pages = ['README.md', ...(readdirSync('docs', { recursive: true }) as string[]).map((name) => `docs/${name}`)]
    for (const page of pages.filter((name) => name.endsWith('.md')))
      for (const [, link] of read(page).matchAll(/\]\((?!https?:)([^)#\s]+)/g))
        expect(existsSync(join(dirname(page), link!)), `${page} → ${link}`).toBe(true)
  })

  test('docs/schema.md is the declarations', () =>
    expect(read('docs/schema.md'), `docs/schema.md ${STALE}`).toBe(schemaText()))

  test('no hint names a command that does not exist', () => {
    const files = (readdirSync('src', { recursive: true }) as string[]).filter((file) => file.endsWith('.ts'))
    for (const file of files)
      for (const [, name] of read(join('src', file)).matchAll(/indicator-sync ([a-z]+)\b(?=[ `"]|$)/gm))
        if (!['needs', 'knows'].includes(name!))
          expect(Object.keys(COMMANDS), `${file}: indicator-sync ${name}`).toContain(name)
  })
})
