/** How a person called this program: by npx from a clone or a project, or by its name. */
export const called = (): string => (process.env.npm_command === undefined ? 'indicator-sync' : 'npx indicator-sync')

const COMMAND = /(?<![\w/-]|npx )indicator-sync(?= (?:--help|[a-z]))/g

/** A text that names commands, with each as this person calls it. */
export const asCalled = (text: string): string => text.replaceAll(COMMAND, called())
