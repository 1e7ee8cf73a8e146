import { createRequire } from 'node:module'

/** A package of ours, loaded now and not with the program: most commands never need it. */
export const loadPackage = <T>(name: string): T => createRequire(import.meta.url)(name)
