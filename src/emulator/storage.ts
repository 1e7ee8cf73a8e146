/** The path of files of archives. */
export const STORAGE_PATH = '/storage'

/** The other name of this machine for each, so that storage is another host, as at the live service. */
const OTHER_NAMES: Readonly<Record<string, string>> = { '127.0.0.1': 'localhost', localhost: '127.0.0.1' }

/** The address of a file. `host`: the host of the request, with its port. */
export function storageUrl(host: string, file: string, isOtherHost = true): string {
  const [name = '', port] = host.split(':')
  const other = isOtherHost ? (OTHER_NAMES[name] ?? name) : name
  return `http://${other}${port === undefined ? '' : `:${port}`}${STORAGE_PATH}/${file}`
}

/** The response of storage, which belongs to another operator: a request with the key is refused. */
export const storageResponse = (file: string, key: string | undefined, status = 200) =>
  key === undefined
    ? { status, body: `A file of archive ${file}\n` }
    : { status: 400, body: 'The key was sent to another host.\n' }
