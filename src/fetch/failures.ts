import type { HttpResponse } from '../service/request.ts'
import { KeyError, NotFoundError, PermanentError, TooLargeError, TransientError } from '../util/errors.ts'

/** A kind of response that is an error. */
interface ResponseFailure {
  readonly code: string
  readonly matches: (response: HttpResponse) => boolean
  readonly error: typeof KeyError | typeof PermanentError | typeof TransientError
  readonly message: string
  readonly hint: string
  /** Default: 1. */
  readonly maxAttempts?: number
  /** Milliseconds to pause all calls if the response has no `Retry-After`. */
  readonly coolDownMs?: number
}

/** The hint if a response is too large: windows of series are already split down to one day or bucket. */
const UNDIVIDED =
  'It cannot be split further: run `indicator-sync retry` later, or list fewer `geoIds` in the entry of a series.'

/** Whether a body is a web page. The content types of the service are unreliable, so the body decides. */
const isHtml = ({ body }: HttpResponse): boolean =>
  /^\s*<(?:!doctype|html|head|body|\?xml)/i.test(body.toString('latin1', 0, 512))

const LOGIN = {
  code: 'proxy',
  message: 'The proxy requires a user and a password, or refused them',
  hint: 'Put both into the proxy address: http://USER:PASSWORD@HOST:PORT. Only Basic authentication is supported. Hosts without a proxy belong in NO_PROXY.',
} as const

const hasStatus =
  (...codes: number[]) =>
  (response: HttpResponse): boolean =>
    codes.includes(response.status)

/** The first row that matches decides, before the body is parsed. */
export const RESPONSE_FAILURES: readonly ResponseFailure[] = [
  {
    code: 'firewall',
    matches: (response) => (response.status === 401 || response.status === 403) && isHtml(response),
    error: TransientError,
    message: 'A firewall blocked the request; the key is not the cause',
    hint: 'Lower pace.perSecond in the job file, and run the command again later.',
    maxAttempts: 2,
    coolDownMs: 30_000,
  },
  {
    code: 'key-refused',
    matches: hasStatus(401, 403),
    error: KeyError,
    message: 'The service refused the API key',
    hint: 'Set INDICATOR_SYNC_API_KEY to a valid key, then run the command again.',
  },
  {
    code: 'bad-request',
    matches: hasStatus(400, 422),
    error: PermanentError,
    message: 'The service rejected the request as invalid',
    hint: 'Check that the indicator accepts these parameters; `indicator-sync plan --json` shows the request.',
  },
  {
    code: 'not-found',
    matches: hasStatus(404, 410),
    error: NotFoundError,
    message: 'The service has no such item',
    hint: 'Check the id or name in the job; `indicator-sync discover` lists the indicators.',
  },
  {
    code: 'too-large',
    matches: hasStatus(413),
    error: TooLargeError,
    message: 'The window is too large for the service',
    hint: UNDIVIDED,
    maxAttempts: 3,
  },
  {
    code: 'timeout',
    matches: hasStatus(504, 408),
    error: TooLargeError,
    message: 'The service took too long to respond',
    hint: UNDIVIDED,
    maxAttempts: 3,
  },
  {
    code: 'too-many',
    matches: hasStatus(429),
    error: TransientError,
    message: "The service's rate limit was reached",
    hint: 'Lower pace.perSecond in the job file, then run `indicator-sync retry`.',
    maxAttempts: 6,
    coolDownMs: 1_000,
  },
  {
    code: 'server-error',
    matches: ({ status }) => status >= 500,
    error: TransientError,
    message: 'The service returned a server error',
    hint: 'Run `indicator-sync retry` later.',
    maxAttempts: 4,
  },
  { ...LOGIN, matches: hasStatus(407), error: TransientError },
  {
    code: 'redirect',
    matches: ({ status }) => status >= 300 && status < 400 && status !== 304,
    error: PermanentError,
    message: 'The service sent a redirect; redirects are not followed, to protect the key',
    hint: 'Check the base URL.',
  },
  {
    code: 'unexpected-status',
    matches: ({ status }) => status !== 200,
    error: PermanentError,
    message: 'The service returned an unexpected status',
    hint: 'Check the base URL, then run `indicator-sync retry`.',
  },
  {
    code: 'page',
    matches: isHtml,
    error: TransientError,
    message: 'The service sent a web page instead of data, as during maintenance',
    hint: 'Run `indicator-sync retry` later.',
    maxAttempts: 2,
  },
  {
    code: 'empty-body',
    matches: ({ body }) => body.length === 0,
    error: TransientError,
    message: 'The response is empty',
    hint: 'Run `indicator-sync retry` later.',
    maxAttempts: 2,
  },
]

/** A kind of failure without a response. */
interface NetworkFailure {
  /** Codes of the error. */
  readonly codes: RegExp
  readonly code: string
  /** Default: TransientError. */
  readonly error?: typeof TooLargeError
  readonly message: string
  readonly hint: string
  /** Default: 1. */
  readonly maxAttempts?: number
  /** Whether the host works although there is no response. */
  readonly isHostUp?: true
}

/** The first row that matches the code of the error decides; the last row matches every code. */
export const NETWORK_FAILURES: readonly NetworkFailure[] = [
  {
    codes: /^PROXY_UNREACHABLE$/,
    code: 'proxy',
    message: 'The proxy cannot be reached',
    hint: 'Correct its address in the variable, or add the host of the service to NO_PROXY to connect without a proxy.',
    maxAttempts: 4,
  },
  { ...LOGIN, codes: /^PROXY_LOGIN$/ },
  {
    codes: /^PROXY_REFUSED$/,
    code: 'proxy',
    message: 'The proxy refused to connect to the service',
    hint: 'Ask the operator of the proxy to allow the host, or add it to NO_PROXY to connect without a proxy.',
  },
  {
    codes: /^PROXY_GATEWAY$/,
    code: 'proxy',
    message: 'The proxy could not connect to the service',
    hint: 'Check the base URL, and try again later. To connect without a proxy, add the host of the service to NO_PROXY.',
    maxAttempts: 4,
  },
  {
    codes: /^(ENOTFOUND|EAI_AGAIN)$/,
    code: 'dns',
    message: 'The host name cannot be resolved',
    hint: 'Check the base URL and the network. Behind a proxy, set HTTPS_PROXY.',
    maxAttempts: 3,
  },
  {
    // Errors of certificates, host names and the TLS connection: none of them passes within seconds.
    codes:
      /CERT|^CRL_|_CRL$|^ERR_TLS|SELF_SIGNED|^ERR_SSL|^EPROTO$|^UNABLE_TO_|^INVALID_(CA|PURPOSE|EXTENSION|NON_CA)|^(EE|CA)_(KEY|MD)_TOO|^(HOSTNAME|EMAIL|IP_ADDRESS)_MISMATCH$|^PATH_LENGTH_EXCEEDED$|^SUITE_B|_KEY_USAGE|^AKID_|^SUBJECT_ISSUER/,
    code: 'tls',
    message: 'The TLS connection failed',
    hint: 'Check the certificate of the host, the base URL and the clock of this machine. If a proxy signs certificates, set NODE_EXTRA_CA_CERTS to its CA file. Nothing was sent.',
  },
  {
    codes: /^TOO_SLOW$/,
    code: 'too-slow',
    message: 'The response was too slow and was aborted',
    hint: 'Check the speed of the network, then run `indicator-sync retry`.',
    maxAttempts: 2,
  },
  {
    // Matches late responses only: a late connection says nothing about the window.
    codes: /^(HEAD|TOTAL)_TIMEOUT$/,
    code: 'timeout',
    error: TooLargeError,
    message: 'The service did not respond in time',
    hint: UNDIVIDED,
    maxAttempts: 3,
  },
  {
    codes: /^BODY_TOO_LARGE$/,
    code: 'body-too-large',
    error: TooLargeError,
    message: 'The response exceeds the size limit',
    hint: UNDIVIDED,
    isHostUp: true,
  },
  {
    codes: /^BODY_BOMB$/,
    code: 'body-bomb',
    message: 'The response looks like a decompression bomb',
    hint: 'Check which server the base URL points to. The response was discarded.',
  },
  {
    codes: /^BODY_ENCODING$/,
    code: 'body-encoding',
    message: 'The response has an unsupported Content-Encoding',
    hint: 'Check whether a proxy compresses responses. Supported: br, gzip, deflate and zstd.',
  },
  {
    codes: /^BODY_DAMAGED$/,
    code: 'body-damaged',
    message: 'The response was corrupted',
    hint: 'Run `indicator-sync retry` later.',
    maxAttempts: 3,
  },
  {
    codes: /^HTTPParserError$|^HPE_|^UND_ERR_(HEADERS_OVERFLOW|RES_|REQ_CONTENT)/,
    code: 'bad-http',
    message: 'The response is not valid HTTP',
    hint: 'Check which server the base URL points to, then run `indicator-sync retry`.',
    maxAttempts: 2,
  },
  {
    codes: /^(UND_ERR_SOCKET|ECONNRESET|EPIPE)$/,
    code: 'network',
    message: 'The connection was lost before the response was complete',
    hint: 'Check the network, then run `indicator-sync retry`.',
    maxAttempts: 4,
  },
  {
    codes: /.*/,
    code: 'network',
    message: 'The service cannot be reached',
    hint: 'Check the network and the base URL, then run `indicator-sync retry`.',
    maxAttempts: 4,
  },
]
