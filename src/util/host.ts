/** Whether an address is on this machine, so that requests cross no network. */
export function isHere(address: string | URL): boolean {
  const { hostname } = new URL(address)
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])\.?$/i.test(
    hostname,
  )
}

/** Whether an address is on this machine or in a private network, judged by the address alone. */
export function isInside(address: string | URL): boolean {
  const { hostname } = new URL(address)
  return (
    isHere(address) ||
    /^(0|10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./.test(hostname) ||
    /^\[(::|f[cd]|fe[89ab]|::ffff:)/i.test(hostname)
  )
}

/** Whether a process with this id runs on this machine. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
