import type { Connection } from '../connection.ts'

/** Answers which bodies are in the reply store. Writers follow one another, so there is nothing to lock. */
export function lockReplies(prepare: Connection['prepare'], hashes: readonly string[]): readonly string[] {
  const held = prepare('select hash from _reply where hash in (select value from json_each(?))')
  return (held.all(JSON.stringify(hashes)) as { hash: string }[]).map(({ hash }) => hash)
}
