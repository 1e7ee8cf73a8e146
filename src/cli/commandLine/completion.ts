import { RECIPE_NAMES } from '../../products/recipes/recipes.ts'
import { COMMON_FLAGS, type CommonArgs, type FlagOptions } from '../flags.ts'
import { EXIT } from '../terminal/fail.ts'
import { print } from '../terminal/output.ts'
import type { Command } from './command.ts'

type CompletedCommands = Readonly<Record<string, Command>>

/** Shells that complete commands, flags, their words and files. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** What a value may be: one of some words, a file, or anything. */
type FlagValues = readonly string[] | 'file' | null

/** A flag as a shell sees it. */
interface CommandFlag {
  readonly name: string
  readonly about: string
  /** Undefined where it takes no value. */
  readonly values: FlagValues | undefined
}

/** A command as a shell sees it. */
interface Completed {
  readonly name: string
  readonly about: string
  readonly flags: readonly CommandFlag[]
  readonly values: FlagValues
}

function flagValues(name: string, { choices, completion }: FlagOptions): FlagValues {
  if (name === 'recipe') return RECIPE_NAMES
  return choices ? choices.map(String) : (completion ?? null)
}

const flagOf = ([name, options]: [string, FlagOptions]): CommandFlag => ({
  name: `--${name}`,
  about: options.describe ?? '',
  values: options.type === 'boolean' ? undefined : flagValues(name, options),
})

const HELP: readonly CommandFlag[] = [{ name: '--help', about: 'What it does, with an example', values: undefined }]
const EVERYWHERE = [...Object.entries(COMMON_FLAGS).map(flagOf), ...HELP]

const completed = (commands: CompletedCommands): Completed[] =>
  Object.entries(commands).map(([name, { about, flags, positionals = {} }]) => {
    const first = Object.entries(positionals)[0]
    return {
      name,
      about,
      flags: [...Object.entries(flags).map(flagOf), ...EVERYWHERE],
      values: first ? flagValues(...first) : null,
    }
  })

/** The text between single quotes of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const namesText = (list: readonly { readonly name: string }[]): string => list.map(({ name }) => name).join(' ')

/** The patterns of a `case` over "command previous-word", for flags that take a value: `words` writes what to do with some. */
function valueCases(
  commands: readonly Completed[],
  words: (values: readonly string[]) => string,
  file: string,
): string[] {
  const taking = commands.flatMap(({ name, flags }) =>
    flags.flatMap((flag) =>
      flag.values === undefined ? [] : [{ pattern: `${quoted(`${name} ${flag.name}`)}`, ...flag }],
    ),
  )
  const files = taking.filter(({ values }) => values === 'file').map(({ pattern }) => pattern)
  const free = taking.filter(({ values }) => values === null).map(({ pattern }) => pattern)
  return [
    ...taking.flatMap(({ pattern, values }) =>
      Array.isArray(values) ? [`    ${pattern}) ${words(values)}; return ;;`] : [],
    ),
    `    ${files.join('|')}) ${file}; return ;;`,
    `    ${free.join('|')}) return ;;`,
  ]
}

function bash(commands: readonly Completed[]): string {
  const reply = (words: string): string => `COMPREPLY=($(compgen -W ${quoted(words)} -- "$cur"))`
  return `# indicator-sync, completion for bash: source <(indicator-sync completion bash)
_indicator_sync_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -- "$cur"))
}
_indicator_sync() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} cmd= i
  COMPREPLY=()
  if [[ $cur == '=' ]]; then cur=; elif [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
    ${commands.map(({ name }) => name).join('|')}) cmd=\${COMP_WORDS[i]}; break ;;
    esac
  done
  case "$cmd $prev" in
${valueCases(commands, (values) => reply(values.join(' ')), '_indicator_sync_files').join('\n')}
  esac
  if [[ -z $cmd ]]; then
    ${reply(`${namesText(commands)} --help --version`)}
    return
  fi
  if [[ $cur == -* ]]; then
    case $cmd in
${commands.map(({ name, flags }) => `    ${name}) ${reply(namesText(flags))} ;;`).join('\n')}
    esac
    return
  fi
  case $cmd in
${commands
  .map(({ name, values }) =>
    Array.isArray(values)
      ? `  ${name}) ${reply(values.join(' '))} ;;`
      : values === 'file'
        ? `  ${name}) _indicator_sync_files ;;`
        : '',
  )
  .filter((line) => line !== '')
  .join('\n')}
  esac
}
complete -F _indicator_sync indicator-sync`
}

function zsh(commands: readonly Completed[]): string {
  const described = (list: readonly { readonly name: string; readonly about: string }[]): string =>
    list.map(({ name, about }) => quoted(`${name}:${about}`)).join(' ')
  return `#compdef indicator-sync
# indicator-sync, completion for zsh: source <(indicator-sync completion zsh)
_indicator_sync() {
  local cur=\${words[CURRENT]} prev=\${words[CURRENT-1]} cmd= word
  local -a found
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case $word in
    ${commands.map(({ name }) => name).join('|')}) cmd=$word; break ;;
    esac
  done
  case "$cmd $prev" in
${valueCases(commands, (values) => `compadd -- ${values.map(quoted).join(' ')}`, '_files').join('\n')}
  esac
  if [[ -z $cmd ]]; then
    found=(${described(commands)})
    _describe command found
    return
  fi
  if [[ $cur == -* ]]; then
    case $cmd in
${commands.map(({ name, flags }) => `    ${name}) found=(${described(flags)}) ;;`).join('\n')}
    esac
    _describe -o flag found
    return
  fi
  case $cmd in
${commands
  .map(({ name, values }) =>
    Array.isArray(values)
      ? `  ${name}) compadd -- ${values.map(quoted).join(' ')} ;;`
      : values === 'file'
        ? `  ${name}) _files ;;`
        : '',
  )
  .filter((line) => line !== '')
  .join('\n')}
  esac
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _indicator_sync indicator-sync`
}

function fish(commands: readonly Completed[]): string {
  const text = (words: string): string => `'${words.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const values = (what: FlagValues | undefined): string =>
    what === undefined ? '' : what === 'file' ? ' -r -F' : what === null ? ' -x' : ` -x -a ${text(what.join(' '))}`
  const begin = 'complete -c indicator-sync'
  return [
    '# indicator-sync, completion for fish: indicator-sync completion fish | source',
    `${begin} -f`,
    `${begin} -n __fish_use_subcommand -l version -d 'The version of this program'`,
    ...commands.map(({ name, about }) => `${begin} -n __fish_use_subcommand -a ${name} -d ${text(about)}`),
    ...commands.flatMap((command) => {
      const on = `${begin} -n '__fish_seen_subcommand_from ${command.name}'`
      return [
        ...(command.values === 'file'
          ? [`${on} -F`]
          : Array.isArray(command.values)
            ? [`${on} -a ${text(command.values.join(' '))}`]
            : []),
        ...command.flags.map(
          ({ name, about, values: what }) => `${on} -l ${name.slice(2)}${values(what)} -d ${text(about)}`,
        ),
      ]
    }),
  ].join('\n')
}

const SCRIPTS: Readonly<Record<Shell, (commands: readonly Completed[]) => string>> = { bash, zsh, fish }

/** The script with which a shell completes; made from the declarations of the commands, so that it knows each of them. */
export const completionText = (shell: Shell, commands: CompletedCommands): string => SCRIPTS[shell](completed(commands))

export async function run(
  { shell }: CommonArgs & { readonly shell: Shell },
  commands: CompletedCommands,
): Promise<number> {
  print(completionText(shell, commands))
  return EXIT.done
}
