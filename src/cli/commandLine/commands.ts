import { MAINTENANCE_COMMANDS } from './maintenanceCommands.ts'
import { READ_COMMANDS } from './readCommands.ts'
import { SYNC_COMMANDS } from './syncCommands.ts'

/** Every command, in the order in which a newcomer meets them. */
export const COMMANDS = { ...SYNC_COMMANDS, ...READ_COMMANDS, ...MAINTENANCE_COMMANDS } as const

export type CommandName = keyof typeof COMMANDS
