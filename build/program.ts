/*
 * Builds the program of a package: `node build/program.ts [dist]` bundles `src` and `migrations` into a few files in `dist/program`.
 * They include the packages that have many modules and that every command loads. Node takes at least a fifth of a millisecond to
 * find and link a module, however small it is. Modules that are imported on demand stay separate files. The scripts of the page
 * are written without their types, and its style sheets as they are. The manual page is written beside that folder. In a clone,
 * `prepare.js` runs this after `npm ci`.
 */
import { cpSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { type OutputOptions, rolldown } from 'rolldown'
import { manText } from './manText.ts'

/** Entry points of the bundle: the library, and the program that `bin.js` loads. */
const ENTRIES = ['src/index.ts', 'src/cli/main.ts']
/** The entry point of the process that runs SQL statements: a single file with all that it imports. */
const ALONE = ['src/reports/statements/statementChild.ts']

/** Packages that are bundled together with their dependencies. All others are loaded from `node_modules`. */
const INSIDE = [
  '@hono/node-server',
  'croner',
  'fastest-levenshtein',
  'hono',
  'kysely',
  'p-queue',
  'p-retry',
  'undici',
  'yaml',
  'yargs',
  'zod',
]

/**
 * The files of the bundle: modules that are loaded together share a file. Each file has the modules with these parts in their paths and
 * everything that they import, except modules of an earlier file. So a file imports only earlier ones.
 */
const FILES: readonly (readonly [name: string, parts: readonly string[]])[] = [
  ['help', ['/cli/main.ts', '/cli/commandLine/splitCommandLine.ts', '/cli/commandLine/help.ts']],
  ['terminal', ['/cli/commandLine/runCommandLine.ts']],
  ['database', ['/db/open.ts', '/db/lock.ts', '/db/sqlite/open.ts', '/db/sqlite/lock.ts']],
  [
    'findings',
    ['/findings/readStatus.ts', '/findings/metrics.ts', '/findings/findFindings.ts', '/findings/findGaps.ts'],
  ],
  [
    'command',
    [
      '/cli/settings/config.ts',
      '/cli/settings/databases.ts',
      '/cli/terminal/output.ts',
      '/cli/jobs/lakes.ts',
      '/cli/listening.ts',
      '/util/log.ts',
      '/util/events.ts',
    ],
  ],
  ['http', ['/node_modules/@hono/', '/node_modules/hono/', '/util/listen.ts']],
  ['page', ['/commands/serve.ts']],
  ['sync', ['/jobs/runAndPrint.ts']],
  ['status', ['/commands/status.ts', '/commands/query.ts', '/commands/show.ts']],
]

/** Whether the path of a module has a part. */
const hasPart = (id: string, part: string): boolean => id.replaceAll('\\', '/').includes(part)

// `stripTypeScriptTypes` is experimental.
process.removeAllListeners('warning')

const root = resolve(import.meta.dirname, '..')
const dist = resolve(process.argv[2] ?? join(root, 'dist'))
const folder = join(dist, 'program')
/** This folder is renamed when it is complete, so that commands never see an incomplete program. */
const part = `${folder}.part`

const { version, dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const outside = Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => !INSIDE.includes(name))

/** Whether a module is not bundled: it belongs to Node, or to a package that our own modules import. */
const isOutside = (id: string, importer = ''): boolean =>
  id.startsWith('node:') ||
  (!importer.includes('node_modules') && outside.some((name) => id === name || id.startsWith(`${name}/`)))

/** Bundles some entry points, and returns the ids of the modules of each written file. */
async function write(
  entries: readonly string[],
  codeSplitting: NonNullable<OutputOptions['codeSplitting']>,
): Promise<Map<string, readonly string[]>> {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(entries.map((file) => [basename(file, '.ts'), file])),
    external: isOutside,
    platform: 'node',
    // The files of yaml for Node are CommonJS, whose exports have no names here.
    resolve: {
      conditionNames: ['import', 'default'],
      alias: { 'string-width': join(root, 'build/stringWidth.ts') },
    },
    onLog: (level, { message }) => {
      if (level === 'warn') throw new Error(message)
    },
  })
  const names = { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' }
  // Comments are read at every start; those of packages are as long as their code.
  const { output } = await bundle.write({ dir: part, format: 'esm', comments: false, ...names, codeSplitting })
  await bundle.close()
  return new Map(output.flatMap((one) => (one.type === 'chunk' ? [[one.fileName, one.moduleIds]] : [])))
}

/** Throws an error if a part of `FILES` matches no module of its file: the module is gone, or an earlier file has it. */
function requireAllParts(written: ReadonlyMap<string, readonly string[]>): void {
  for (const [name, parts] of FILES) {
    const ids = [...written].flatMap(([file, modules]) => (file.startsWith(`${name}-`) ? modules : []))
    for (const part of parts)
      if (!ids.some((id) => hasPart(id, part))) throw new Error(`The file ${name} of FILES has no module ${part}.`)
  }
}

/** The licences of the bundled packages, which must accompany their code. */
function licencesOf(modules: readonly string[]): string {
  const packages = new Set(modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []))
  return [...packages]
    .map((path) => {
      const { name, version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
      const [file] = globSync('{LICENSE,LICENCE,license}*', { cwd: path })
      if (file === undefined) throw new Error(`${path} has no licence file.`)
      return `${name} ${version}\n\n${readFileSync(join(path, file), 'utf8').trim()}\n`
    })
    .join('\n---\n\n')
}

const groups = FILES.map(([name, parts], i) => ({
  name,
  test: (id: string) => parts.some((part) => hasPart(id, part)),
  priority: FILES.length - i,
}))
rmSync(part, { recursive: true, force: true })
const program = await write(ENTRIES, { groups })
requireAllParts(program)
const modules = [...program.values()]
for (const entry of ALONE) modules.push(...(await write([entry], false)).values())
writeFileSync(join(part, 'LICENSES'), licencesOf(modules.flat()))
mkdirSync(join(part, 'client'))
for (const file of globSync('src/page/client/*.ts', { cwd: root }))
  writeFileSync(
    join(part, 'client', `${basename(file, '.ts')}.js`),
    stripTypeScriptTypes(readFileSync(join(root, file), 'utf8')),
  )
cpSync(join(root, 'src/page/styles'), join(part, 'styles'), { recursive: true })
rmSync(folder, { recursive: true, force: true })
renameSync(part, folder)
writeFileSync(join(dist, 'indicator-sync.1'), await manText(version))
