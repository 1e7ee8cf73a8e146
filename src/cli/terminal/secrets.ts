import { listSecrets } from '../../service/key.ts'

const knownKeys: string[] = []

/** Remembers a key, so that nothing this process prints about a failure can hold it. */
export function rememberSecret(key: string): void {
  knownKeys.push(...listSecrets(key.trim()))
}

/** Every text that must not be printed. */
export const secrets = (): readonly string[] => knownKeys
