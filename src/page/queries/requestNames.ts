import { daysText } from '../elements.ts'
import type { PageRequest } from '../page.ts'
import { indicatorNames } from './names.ts'

/** A request as `_fetch` records it. */
interface RecordedRequest {
  readonly route: string
  /** JSON. */
  readonly params: string
  readonly from_at: number | null
  readonly to_at: number | null
}

/** What some requests were for, in words: the number and name of an indicator, else the route, and the days. */
export async function requestNames(request: PageRequest, rows: readonly RecordedRequest[]) {
  const idOf = ({ params }: RecordedRequest): unknown => (JSON.parse(params) as { id?: unknown }).id
  const names = await indicatorNames(
    request,
    rows.map(idOf).filter((id) => typeof id === 'number'),
  )
  return (row: RecordedRequest): string => {
    const id = idOf(row)
    const name = names.get(`${row.route} ${id}`)
    const what =
      name === undefined
        ? [request.words.runs.targets[row.route] ?? row.route.replaceAll('_', ' '), id].filter(Boolean).join(' ')
        : `${id} ${name}`
    return row.from_at === null || row.to_at === null ? what : `${what}, ${daysText(request, row.from_at, row.to_at)}`
  }
}
