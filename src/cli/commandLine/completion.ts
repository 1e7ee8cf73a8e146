import yargs from 'yargs'
import type { Args } from '../command.ts'
import { EXIT } from '../terminal/fail.ts'

export const positionals = {
  shell: { type: 'string', choices: ['bash', 'zsh', 'fish'], demandOption: true, describe: 'Your shell' },
} as const
export const flags = {} as const
export const examples = ['completion bash >> ~/.bashrc']

export async function handler({ shell }: Args<typeof flags, typeof positionals>): Promise<number> {
  // yargs chooses the form of the script by this variable.
  process.env.SHELL = shell
  // The types of yargs lack the two parameters; the second is the command in the header of the script.
  const parser: { showCompletionScript(name: string, command: string): unknown } = yargs()
  parser.showCompletionScript('indicator-sync', `completion ${shell}`)
  return EXIT.done
}
