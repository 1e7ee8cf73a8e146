/** Numbers of our advisory locks: `INDS` in ASCII, then what is locked: the writer of a database, or its schema during a change. */
export const LOCKS = { program: 0x494e_4453, writer: 1, schema: 2 } as const
