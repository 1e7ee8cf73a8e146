/*
 * Makes one file of each package that has many modules and is loaded by every command, in `dist/packages`, and lets what was
 * built import it from there: `node build/packages.ts [dist]`. Node takes a fifth of a millisecond to find and link a module,
 * however small it is, and these are 420 of the 650 of a sync that has nothing to do. Modules of our own stay as they are.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { rolldown } from 'rolldown'

/** What is imported, and the file that it comes to stand in. */
const PACKAGES: Readonly<Record<string, string>> = {
  kysely: 'kysely',
  'kysely/migration': 'kysely-migration',
  yaml: 'yaml',
  zod: 'zod',
}

const root = resolve(import.meta.dirname, '..')
const dist = resolve(process.argv[2] ?? join(root, 'dist'))
const folder = join(dist, 'packages')

/** Writes the files, and answers the modules that they are made of. */
async function writeFiles(): Promise<string[]> {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(PACKAGES).map(([name, file]) => [file, name])),
    // What yaml has for Node alone is no ECMAScript module, and what it exports would have no names in a bundle.
    platform: 'neutral',
    resolve: { conditionNames: ['import', 'default'] },
    onLog: (level, { message }) => {
      if (level === 'warn') throw new Error(message)
    },
  })
  const { output } = await bundle.write({ dir: folder, format: 'esm' })
  await bundle.close()
  return output.flatMap((one) => (one.type === 'chunk' ? one.moduleIds : []))
}

/** The licences of the packages that modules belong to, for each of them wants its own to go with it. */
function licencesOf(modules: readonly string[]): string {
  const packages = new Set(modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []))
  return [...packages]
    .map((path) => {
      const { name, version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
      const [file] = globSync('{LICENSE,LICENCE}*', { cwd: path })
      if (file === undefined) throw new Error(`${path} has no licence to go with it.`)
      return `${name} ${version}\n\n${readFileSync(join(path, file), 'utf8').trim()}\n`
    })
    .join('\n---\n\n')
}

/** Lets a module import the files in place of the packages. */
function redirect(module: string): void {
  const text = readFileSync(module, 'utf8')
  const redirected = text.replace(/(\bfrom |\bimport\()'([^']+)'/g, (whole, before: string, name: string) =>
    Object.hasOwn(PACKAGES, name)
      ? `${before}'${relative(dirname(module), join(folder, `${PACKAGES[name]}.js`))}'`
      : whole,
  )
  if (redirected !== text) writeFileSync(module, redirected)
}

writeFileSync(join(folder, 'LICENSES'), licencesOf(await writeFiles()))
for (const module of globSync('{src,migrations}/**/*.js', { cwd: dist })) redirect(join(dist, module))
