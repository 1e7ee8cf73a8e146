import { BlockList, isIP } from 'node:net'
import { InputError } from '../util/errors.ts'
import { isLoopback } from '../util/host.ts'

/* Which proxy a request goes through, by the variables that curl and most programs read. */

/** A setting and its source, such as `variable HTTPS_PROXY`. */
interface SourcedText {
  readonly value: string
  readonly from: string
}

/** The proxies by the scheme of the target, and the hosts without a proxy. The texts are not checked. */
export interface ProxySettings {
  readonly http: SourcedText | null
  readonly https: SourcedText | null
  /** The value of NO_PROXY. */
  readonly exceptions: SourcedText | null
}

/** A proxy to connect to. */
export interface HttpProxy {
  /** Scheme, host and port: an address without user and password. */
  readonly origin: string
  readonly from: string
  /** The login, for the proxy only. */
  readonly headers: Readonly<Record<string, string>>
}

/** Reads the settings of proxies. `get` returns a variable that is not empty. Names in lower case win, as in curl. */
export function readProxySettings(get: (name: string) => SourcedText | undefined): ProxySettings {
  const first = (...names: string[]): SourcedText | null => {
    for (const name of names) {
      const found = get(name)
      if (found) return found
    }
    return null
  }
  return {
    http: first('INDICATOR_SYNC_PROXY', 'http_proxy', 'HTTP_PROXY'),
    https: first('INDICATOR_SYNC_PROXY', 'https_proxy', 'HTTPS_PROXY'),
    exceptions: first('no_proxy', 'NO_PROXY'),
  }
}

/** Parses an address of a proxy, `HOST:PORT` too; null if it is not valid. */
function parseAddress(text: string): URL | null {
  const url = URL.parse(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`)
  const isValid =
    url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && `${url.search}${url.hash}` === ''
  return isValid && !/\s/.test(text) ? url : null
}

/** Decodes a part of a URL; null if it is not percent-encoded correctly. */
function decode(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}

/** Returns the proxy of a setting. Throws InputError, without the text, which may contain a password. */
function parseProxy({ value, from }: SourcedText): HttpProxy {
  const url = parseAddress(value.trim())
  const user = decode(url?.username ?? '')
  const password = decode(url?.password ?? '')
  if (url === null || user === null || password === null)
    throw new InputError(`The proxy address (from ${from}) is not valid.`, {
      hint: 'Use http://HOST:PORT or https://HOST:PORT, with USER:PASSWORD@ before the host if needed. Percent-encode special characters of the password, such as %40 for @. SOCKS proxies and PAC files are not supported.',
      code: 'bad-proxy',
    })
  const login = Buffer.from(`${user}:${password}`).toString('base64')
  return {
    origin: url.origin,
    from,
    headers: `${user}${password}` === '' ? {} : { 'Proxy-Authorization': `Basic ${login}` },
  }
}

/** The logins of proxies as they are written: percent-encoded and plain. The address may be invalid. */
const readLogins = ({ http, https }: ProxySettings): [login: string, plain: string][] =>
  [http, https].flatMap((setting): [string, string][] => {
    const [, login] = /^(?:[^/@]*:\/\/)?(.*)@/s.exec(setting?.value.trim() ?? '') ?? []
    return login === undefined ? [] : [[login, decode(login) ?? login]]
  })

/** The logins of proxies in every form in which a proxy may repeat them: user with password, and as they are sent. */
export const proxyLogins = (settings: ProxySettings): string[] =>
  readLogins(settings).flatMap(([login, plain]) =>
    // Don't redact a bare user name; it may be an ordinary word.
    login.includes(':')
      ? [login, plain, Buffer.from(plain).toString('base64')]
      : [Buffer.from(`${plain}:`).toString('base64')],
  )

/** The texts of a proxy setting that must not be printed: logins, and passwords alone, which may be words of the data. */
export const proxySecrets = (settings: ProxySettings): string[] => [
  ...proxyLogins(settings),
  ...readLogins(settings)
    .flat()
    .filter((login) => login.includes(':'))
    .map((login) => login.slice(login.indexOf(':') + 1)),
]

/** A host as `URL` spells it: in lower case, an IPv6 address shortened and without brackets, without a final dot. */
function plainHost(host: string): string {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  const hostname = URL.parse(`http://${isIP(bare) === 6 ? `[${bare}]` : bare}`)?.hostname ?? bare.toLowerCase()
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}

/** Whether a network such as `10.0.0.0/8` contains an IP address. */
function isInNetwork(ip: string, network: string): boolean {
  const [, base = '', bits = ''] = /^(.+)\/(\d{1,3})$/.exec(network) ?? []
  const family = isIP(base)
  if (family === 0 || family !== isIP(ip) || Number(bits) > (family === 6 ? 128 : 32)) return false
  const list = new BlockList()
  list.addSubnet(base, Number(bits), family === 6 ? 'ipv6' : 'ipv4')
  return list.check(ip, family === 6 ? 'ipv6' : 'ipv4')
}

/** Whether an entry of NO_PROXY matches a target. An entry is `*`, a network, or a domain or address with or without a port. */
function matchesException(entry: string, { hostname, protocol, port }: URL): boolean {
  const host = plainHost(hostname)
  if (isInNetwork(host, entry)) return true
  const [, name = entry, entryPort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? []
  if (entryPort !== undefined && entryPort !== (port || (protocol === 'https:' ? '443' : '80'))) return false
  const domain = plainHost(name.replace(/^\*?\./, ''))
  return name === '*' || host === domain || (domain !== '' && host.endsWith(`.${domain}`))
}

/** Whether an entry of NO_PROXY matches a target. */
const isExcepted = (url: URL, { exceptions }: ProxySettings): boolean =>
  (exceptions?.value ?? '').split(/[\s,]+/).some((entry) => entry !== '' && matchesException(entry, url))

/** Returns the proxy of a target; null if the target is on this machine, or excepted. Throws InputError if the proxy's address is not valid. */
export function findProxy(target: string | URL, settings: ProxySettings): HttpProxy | null {
  const url = new URL(target)
  const setting = url.protocol === 'https:' ? settings.https : settings.http
  return setting === null || isLoopback(url) || isExcepted(url, settings) ? null : parseProxy(setting)
}
