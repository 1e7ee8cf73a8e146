const remembered: string[] = []

/** Remembers a key: from now on this process prints it nowhere. */
export function rememberSecret(key: string): void {
  remembered.push(key.trim())
}

/** Every text that must not be printed. */
export const secrets = (): readonly string[] => remembered
