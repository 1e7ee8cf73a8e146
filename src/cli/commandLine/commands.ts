import type { Command } from './command.ts'
import { MAINTENANCE_COMMANDS } from './maintenanceCommands.ts'
import { READ_COMMANDS } from './readCommands.ts'
import { SYNC_COMMANDS } from './syncCommands.ts'

/** Every command, in the order in which a newcomer meets them. */
export const COMMANDS = { ...SYNC_COMMANDS, ...READ_COMMANDS, ...MAINTENANCE_COMMANDS } as const

/** The command of this name. */
export const commandNamed = (word = ''): Command | undefined =>
  Object.hasOwn(COMMANDS, word) ? COMMANDS[word as CommandName] : undefined

export type CommandName = keyof typeof COMMANDS
