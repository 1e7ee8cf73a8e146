import { createRequire } from 'node:module'

/** Loads one of our packages now instead of with the program: most commands never need it. */
export const loadPackage = <T>(name: string): T => createRequire(import.meta.url)(name)
