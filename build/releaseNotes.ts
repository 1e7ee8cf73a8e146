/* Prints the section of the current version in CHANGELOG.md: `node build/releaseNotes.ts`. Fails as long as it has no date. */
import { readFileSync } from 'node:fs'

/** The section of a version, without its heading. Throws if there is none, or none with a date. */
export function releaseNotes(changelog: string, version: string): string {
  const section = changelog.split(/^## /m).find((one) => one.startsWith(`${version} (`))
  const [heading = '', ...lines] = section?.split('\n') ?? []
  if (!/\(\d{4}-\d\d-\d\d\)$/.test(heading))
    throw new Error(`CHANGELOG.md has no heading "## ${version} (YYYY-MM-DD)". Put the day of the release into it.`)
  return `${lines.join('\n').trim()}\n`
}

if (import.meta.main) {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  process.stdout.write(releaseNotes(readFileSync('CHANGELOG.md', 'utf8'), version))
}
