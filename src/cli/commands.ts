import { ASKING } from './asking.ts'
import { KEEPING } from './keeping.ts'
import { LOOKING } from './looking.ts'

/** Every command, in the order in which a newcomer meets them. */
export const COMMANDS = { ...ASKING, ...LOOKING, ...KEEPING } as const

export type CommandName = keyof typeof COMMANDS
