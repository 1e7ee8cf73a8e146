/** Names under which the program records its own runs. No job may have one of them. */
export const RESERVED_NAMES = ['archives', 'discover', 'replay', 'retry'] as const

/** Whether the program uses a name itself, in any case of its letters. */
export const isReservedName = (name: string): boolean =>
  (RESERVED_NAMES as readonly string[]).includes(name.toLowerCase())
