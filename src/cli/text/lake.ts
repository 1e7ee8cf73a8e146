import { grouped, quantity } from '../../base/quantity.ts'
import type { LakeSummary } from '../../lake/sync.ts'

/** What a sync of a lake did, in a sentence. */
export function lakeText({ folder, snapshot, changed, rows, bytes, files, written, caution }: LakeSummary): string {
  const contents = `${quantity(rows.observation, 'value')}, ${grouped(bytes)} bytes in ${quantity(files, 'file')}`
  const done = changed
    ? `${folder}: snapshot ${snapshot}, ${contents}; ${quantity(written.files, 'file')} with ${quantity(written.rows, 'row')} ${written.files === 1 ? 'is' : 'are'} new.`
    : `${folder}: nothing changed since snapshot ${snapshot}, ${contents}.`
  return caution === null ? done : `${done} ${caution}`
}
