import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor'

/** The used part of an API Extractor model. */
interface Item {
  readonly kind: string
  readonly name: string
  readonly canonicalReference: string
  readonly docComment?: string
  readonly excerptTokens: readonly { readonly text: string; readonly canonicalReference?: string }[]
  readonly members?: readonly Item[]
}

/** Longer types are left to the pages that their comments name. */
const MAX_CHARACTERS = 300

/** Extracts the public types: tsc writes declarations, API Extractor collects names and comments. */
function makeModel(): readonly Item[] {
  const folder = mkdtempSync(join(tmpdir(), 'indicator-sync-api-'))
  try {
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'junction')
    const config = { extends: resolve('tsconfig.build.json'), include: [], files: [resolve('src/index.ts')] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    const compiler = resolve('node_modules/typescript/bin/tsc')
    execFileSync(process.execPath, [compiler, '-p', folder, '--noCheck', '--rootDir', '.', '--outDir', folder])
    writeFileSync(join(folder, 'package.json'), '{ "name": "indicator-sync", "version": "1.0.0" }')
    const quiet = { default: { logLevel: ExtractorLogLevel.None } }
    const extractorConfig = ExtractorConfig.prepare({
      configObjectFullPath: undefined,
      packageJsonFullPath: join(folder, 'package.json'),
      configObject: {
        projectFolder: folder,
        mainEntryPointFilePath: join(folder, 'src/index.d.ts'),
        compiler: {
          overrideTsconfig: {
            compilerOptions: {
              target: 'es2024',
              module: 'nodenext',
              types: ['node'],
              strict: true,
              skipLibCheck: true,
            },
            files: ['src/index.d.ts'],
          },
        },
        docModel: { enabled: true, apiJsonFilePath: join(folder, 'api.json'), includeForgottenExports: true },
        messages: { compilerMessageReporting: quiet, extractorMessageReporting: quiet, tsdocMessageReporting: quiet },
      },
    })
    Extractor.invoke(extractorConfig, { messageCallback: (message) => Object.assign(message, { handled: true }) })
    return JSON.parse(readFileSync(join(folder, 'api.json'), 'utf8')).members[0].members
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const isPublic = ({ canonicalReference, docComment = '' }: Item): boolean =>
  !canonicalReference.includes('!~') && !docComment.includes('@internal')

const membersOf = ({ members = [] }: Item): readonly Item[] =>
  members.filter((one) => one.kind !== 'Constructor' && !one.docComment?.includes('@internal'))

let model: readonly Item[] | undefined
/** The public types, cached because reading takes seconds. */
const readModel = (): readonly Item[] => (model ??= makeModel())

/** Returns a declaration on one line. */
function codeOf({ kind, name, excerptTokens }: Item): string {
  const code = excerptTokens
    .map(({ text }) => text)
    .join('')
    .replace(/^export (declare )?/, '')
    .replaceAll(/\s+/g, ' ')
    .replace(/;? *$/, '')
  // With the exported name.
  return kind === 'Function' ? code.replace(/^(function )?\w+/, name) : code
}

const commentOf = ({ docComment = '' }: Item): string =>
  docComment
    .replaceAll(/^\s*\/\*\*|\*\/\s*$/g, '')
    .replaceAll(/^ \* ?/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()

const cell = (text: string): string => text.replaceAll('|', '\\|')

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |\n`
  return rows.length === 0 ? '' : `${line(head)}|${'---|'.repeat(head.length)}\n${rows.map(line).join('')}\n`
}

/** Returns the name and type of a member. */
function memberRow(member: Item): readonly string[] {
  const [, name = '', type = ''] = /^(?:readonly )?([^:(]+)(?:: )?(.*)$/.exec(codeOf(member))!
  return [`\`${name}\``, `\`${type}\``, commentOf(member)]
}

const memberTable = (item: Item): string => table(['member', 'type', 'meaning'], membersOf(item).map(memberRow))

function section(item: Item): string {
  const code = codeOf(item)
  const isShown =
    item.kind !== 'Variable' && code.length <= MAX_CHARACTERS && (item.kind !== 'Interface' || / extends /.test(code))
  return [
    `### ${item.name}\n\n`,
    isShown ? `\`\`\`ts\n${code}\n\`\`\`\n\n` : '',
    `${commentOf(item)}\n\n`,
    memberTable(item),
  ].join('')
}

/** Returns interfaces that public types mention but that cannot be imported. */
function namedBeside(model: readonly Item[]): readonly Item[] {
  const references = model
    .filter((item) => isPublic(item) && codeOf(item).length <= MAX_CHARACTERS)
    .flatMap((item) => [item, ...membersOf(item)])
    .flatMap(({ excerptTokens }) => excerptTokens.map(({ canonicalReference }) => canonicalReference))
  return model.filter(
    ({ kind, canonicalReference }) =>
      canonicalReference.includes('!~') && kind === 'Interface' && references.includes(canonicalReference),
  )
}

/** Returns public functions, types and options without a comment. */
export const uncommented = (): string[] =>
  readModel()
    .filter(isPublic)
    .flatMap((item) =>
      [item, ...membersOf(item)]
        .filter((one) => commentOf(one) === '')
        .map((one) => (one === item ? item.name : `${item.name}.${one.name}`)),
    )

/** The reference of the library, from the types and comments of `src/index.ts`. */
export function apiText(): string {
  const model = readModel()
  const of = (...kinds: string[]): readonly Item[] =>
    model.filter((item) => isPublic(item) && kinds.includes(item.kind))
  const errors = of('Class').map((item) => [
    `\`${item.name}\``,
    `\`${/ extends (\w+)/.exec(codeOf(item))![1]}\``,
    commentOf(item),
  ])
  return `${[
    '# Library reference\n\n[library.md](library.md) shows how to use it. This page is generated from the types.\n\n',
    '## Functions\n\n',
    ...of('Function').map(section),
    '## Types\n\n',
    ...of('Interface', 'TypeAlias').map(section),
    '## Values\n\n',
    ...of('Variable').map(section),
    '## Errors\n\n',
    table(['class', 'extends', 'meaning'], errors),
    'Every error has:\n\n',
    memberTable(model.find(({ name }) => name === 'SyncError')!),
    '## Types without an export\n\nTypes above mention them; a program cannot import them.\n\n',
    ...namedBeside(model).map(section),
  ]
    .join('')
    .trimEnd()}\n`
}
