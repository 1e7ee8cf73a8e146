import { KeyError, PermanentError, type SchemaError, TransientError } from '../base/errors.ts'
import type { Answer } from './http.ts'

/** One kind of answer that is no success: how it is known, what it is called, and what is to be done. */
interface AnswerFailure {
  readonly code: string
  readonly when: (answer: Answer) => boolean
  readonly is: typeof KeyError | typeof PermanentError | typeof TransientError | typeof SchemaError
  readonly says: string
  readonly hint: string
  /** How often it is sent in all, for what may pass. */
  readonly tries: number
  /** Milliseconds to wait for all requests before any is sent again, where the answer does not say. */
  readonly coolDownMs?: number
}

/** Whether a body is a page rather than data. Looks at the body, for the service's content types cannot be relied on. */
const isHtml = ({ body }: Answer): boolean =>
  /^\s*<(?:!doctype|html|head|body|\?xml)/i.test(body.toString('latin1', 0, 512))

const status =
  (...codes: number[]) =>
  (answer: Answer): boolean =>
    codes.includes(answer.status)

/** The first case that fits decides. Everything is judged by status and kind of body before anything is parsed. */
export const ANSWER_FAILURES: readonly AnswerFailure[] = [
  {
    code: 'firewall',
    when: (answer) => (answer.status === 401 || answer.status === 403) && isHtml(answer),
    is: TransientError,
    says: 'a firewall in front of the service turned the request away; the key is not the reason',
    hint: 'Wait a while, then ask more slowly (pace.perSecond in the job file).',
    tries: 2,
    coolDownMs: 30_000,
  },
  {
    code: 'key-refused',
    when: status(401, 403),
    is: KeyError,
    says: 'the service refused the API key',
    hint: 'Set INDICATOR_SYNC_API_KEY to a valid key, then run the command again.',
    tries: 1,
  },
  {
    code: 'bad-request',
    when: status(400, 422),
    is: PermanentError,
    says: 'the service says that the request is wrong',
    hint: 'See whether the indicator takes these parameters; `indicator-sync plan --verbose` shows the request.',
    tries: 1,
  },
  {
    code: 'not-found',
    when: status(404, 410),
    is: PermanentError,
    says: 'the service does not have it',
    hint: 'See whether the number or name is right; the table indicator_text holds the catalogue.',
    tries: 1,
  },
  {
    code: 'too-large',
    when: status(413, 504, 408),
    is: TransientError,
    says: 'the window is too large for the service, or it took too long',
    hint: 'Give the entry a smaller `chunk`, then run `indicator-sync retry`.',
    tries: 3,
  },
  {
    code: 'too-many',
    when: status(429),
    is: TransientError,
    says: 'the service asks to be asked less often',
    hint: 'Lower pace.perSecond in the job file, then run `indicator-sync retry`.',
    tries: 6,
    coolDownMs: 1_000,
  },
  {
    code: 'server-error',
    when: ({ status }) => status >= 500,
    is: TransientError,
    says: 'the service failed',
    hint: 'Run `indicator-sync retry` later.',
    tries: 4,
  },
  {
    code: 'redirect',
    when: ({ status }) => status >= 300 && status < 400 && status !== 304,
    is: PermanentError,
    says: 'the service points elsewhere; redirects are not followed, so that the key stays with one host',
    hint: 'See whether the base address is right.',
    tries: 1,
  },
  {
    code: 'unexpected-status',
    when: ({ status }) => status !== 200,
    is: PermanentError,
    says: 'the service gave an unexpected status',
    hint: 'Run `indicator-sync status` to see the answer.',
    tries: 1,
  },
  {
    code: 'page',
    when: isHtml,
    is: TransientError,
    says: 'a page came in place of data, as during maintenance',
    hint: 'Run `indicator-sync retry` later.',
    tries: 2,
  },
  {
    code: 'empty-body',
    when: ({ body }) => body.length === 0,
    is: TransientError,
    says: 'the answer is empty',
    hint: 'Run `indicator-sync retry` later.',
    tries: 2,
  },
]

/** One kind of failure without an answer, known by the code of the error. */
interface NetworkFailure {
  readonly codes: RegExp
  readonly code: string
  readonly says: string
  readonly hint: string
  readonly tries: number
  /** Whether it shows all the same that the host is well. */
  readonly alive?: true
}

/** The first one whose pattern fits the code of the error decides; the last one fits everything. */
export const NETWORK_FAILURES: readonly NetworkFailure[] = [
  {
    codes: /^(ENOTFOUND|EAI_AGAIN)$/,
    code: 'dns',
    says: 'the host has no address',
    hint: 'Check the base address and the network.',
    tries: 3,
  },
  {
    // What OpenSSL says of chains and names, and Node of the connection: none of it changes in a few seconds.
    codes:
      /CERT|^CRL_|_CRL$|^ERR_TLS|SELF_SIGNED|^ERR_SSL|^EPROTO$|^UNABLE_TO_|^INVALID_(CA|PURPOSE|EXTENSION|NON_CA)|^(EE|CA)_(KEY|MD)_TOO|^(HOSTNAME|EMAIL|IP_ADDRESS)_MISMATCH$|^PATH_LENGTH_EXCEEDED$|^SUITE_B|_KEY_USAGE|^AKID_|^SUBJECT_ISSUER/,
    code: 'tls',
    says: 'the connection is not secure',
    hint: 'Check the certificate of the host, the base address and the clock of this machine; nothing was sent.',
    tries: 1,
  },
  {
    codes: /^TOO_SLOW$/,
    code: 'too-slow',
    says: 'the answer came so slowly that it was given up',
    hint: 'See whether the network is slow, then run `indicator-sync retry`.',
    tries: 2,
  },
  {
    codes: /TIMEOUT|^ETIMEDOUT$/,
    code: 'timeout',
    says: 'the service did not answer in time',
    hint: 'Give the entry a smaller `chunk`, then run `indicator-sync retry`.',
    tries: 3,
  },
  {
    codes: /^BODY_TOO_LARGE$/,
    code: 'body-too-large',
    says: 'the answer is larger than can be held',
    hint: 'Give the entry a smaller `chunk`, then run `indicator-sync retry`.',
    tries: 1,
    alive: true,
  },
  {
    codes: /^BODY_BOMB$/,
    code: 'body-bomb',
    says: 'the answer unpacks to more than anything that means something',
    hint: 'See who answers at the base address; nothing of the answer was kept.',
    tries: 1,
  },
  {
    codes: /^BODY_ENCODING$/,
    code: 'body-encoding',
    says: 'the answer is packed in a way that nobody asked for',
    hint: 'See whether something between the service and this machine packs answers; br, gzip, deflate and zstd are understood.',
    tries: 1,
  },
  {
    codes: /^BODY_DAMAGED$/,
    code: 'body-damaged',
    says: 'the answer came damaged',
    hint: 'Run `indicator-sync retry` later.',
    tries: 3,
  },
  {
    codes: /^HTTPParserError$|^HPE_|^UND_ERR_(HEADERS_OVERFLOW|RES_|REQ_CONTENT)|^INFO_FLOOD$/,
    code: 'bad-http',
    says: 'the answer breaks the rules of HTTP',
    hint: 'See who answers at the base address, then run `indicator-sync retry`.',
    tries: 2,
  },
  {
    codes: /.*/,
    code: 'network',
    says: 'the service cannot be reached',
    hint: 'Check the network and the base address, then run `indicator-sync retry`.',
    tries: 4,
  },
]
