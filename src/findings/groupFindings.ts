import type { Finding } from './finding.ts'

/** Findings of one kind and cause that a person reads one by one. */
const MAX_ALIKE = 5
/** Subjects that a summary names. */
const SHOWN_SUBJECTS = 3

/** Summarizes findings of one kind and cause, with the first as an example. */
function summarize(alike: readonly Finding[], listCommand: string): Finding {
  const first = alike[0]!
  const subjects = [...new Set(alike.map(({ subject }) => subject))]
  const more = subjects.length > SHOWN_SUBJECTS ? ` and ${subjects.length - SHOWN_SUBJECTS} more` : ''
  const named = `${subjects.slice(0, SHOWN_SUBJECTS).join('; ')}${more}`
  const since = alike.flatMap(({ since_at }) => since_at ?? []).sort()
  return {
    kind: first.kind,
    subject: named,
    since_at: since[0] ?? null,
    message: `${alike.length} findings, such as ${named} (all: \`${listCommand}\`). The first: ${first.message}`,
    command: alike.every(({ command }) => command === first.command) ? first.command : null,
    cause: first.cause,
    geo_ids: [...new Set(alike.flatMap(({ geo_ids }) => geo_ids))],
    targets: alike.flatMap(({ targets }) => targets),
  }
}

/**
 * Replaces many findings of one kind and cause by one, for people: hundreds of series that are late at once have one reason.
 * `listCommand` lists all of them.
 */
export const groupFindings = (findings: readonly Finding[], listCommand: string): Finding[] =>
  [...Map.groupBy(findings, ({ kind, cause }) => `${kind} ${cause}`).values()].flatMap((alike) =>
    alike.length > MAX_ALIKE ? [summarize(alike, listCommand)] : alike,
  )
