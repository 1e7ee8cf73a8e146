import { brief } from '../../util/json.ts'
import { type Assumption, type Responses, verdict } from './assumption.ts'
import type { RequestName } from './probeRequests.ts'

/** A request for each shape of response. */
const ONE_OF_EACH = ['day', 'catalogue', 'news', 'archives', 'widget'] as const satisfies readonly RequestName[]

/** The headers of these responses whose names match, as `name: value`. */
const headersLike = (responses: Responses, pattern: RegExp): string[] => [
  ...new Set(
    ONE_OF_EACH.flatMap((name) =>
      Object.entries(responses[name].headers)
        .filter(([header]) => pattern.test(header))
        .map(([header, value]) => `${header}: ${value}`),
    ),
  ),
]

/** Judges that no response has such a header. */
function judgeAbsence(responses: Responses, pattern: RegExp) {
  const found = headersLike(responses, pattern)
  return verdict(found.length === 0, found.length === 0 ? 'no such header' : brief(found))
}

/** The assumptions about HTTP. */
export const PROTOCOL_ASSUMPTIONS: readonly Assumption[] = [
  {
    id: 'compression',
    expected: 'Responses are compressed.',
    certainty: 'known',
    source: 'The specification',
    requests: ONE_OF_EACH,
    matters: false,
    consequence: 'Transfers are larger. Bodies are stored compressed anyway.',
    isAboutStatus: true,
    judge: (responses) => {
      const codings = new Set(ONE_OF_EACH.map((name) => responses[name].headers['content-encoding'] ?? 'none'))
      return verdict(!codings.has('none'), [...codings].join(', '))
    },
  },
  {
    id: 'rate-limit-headers',
    expected: 'Successful responses state no rate limit and no Retry-After.',
    certainty: 'guessed',
    source: 'No source',
    requests: ONE_OF_EACH,
    matters: false,
    consequence: 'RateLimit, X-RateLimit-Remaining and Retry-After are obeyed. Set `pace` to the stated limit.',
    isAboutStatus: true,
    judge: (responses) => judgeAbsence(responses, /rate-?limit|^retry-after$|quota/i),
  },
  {
    id: 'no-validators',
    expected: 'Responses have neither ETag nor Last-Modified.',
    certainty: 'known',
    source: 'Recorded responses',
    requests: ONE_OF_EACH,
    matters: false,
    consequence: 'Nothing changes: conditional requests are not sent.',
    isAboutStatus: true,
    judge: (responses) => judgeAbsence(responses, /^(etag|last-modified)$/i),
  },
]
