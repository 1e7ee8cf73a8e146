import { BlockList, isIP } from 'node:net'

/** Whether an address is on this machine, so that requests cross no network. */
export function isLoopback(address: string | URL): boolean {
  const { hostname } = new URL(address)
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])\.?$/i.test(
    hostname,
  )
}

/** Networks of IPv4 that no public host has, with the length of their prefix. */
const PRIVATE_IPV4: readonly (readonly [network: string, prefix: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
]
/** The same for IPv6, and prefixes that lead to an IPv4 address: mapped, Teredo, 6to4 and local NAT64. */
const PRIVATE_IPV6: typeof PRIVATE_IPV4 = [
  ['::', 96],
  ['::ffff:0:0', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]

// Apart, because a list compares IPv4 with mapped IPv6.
const PRIVATE_4 = new BlockList()
const PRIVATE_6 = new BlockList()
for (const [network, prefix] of PRIVATE_IPV6) PRIVATE_6.addSubnet(network, prefix, 'ipv6')
for (const [network, prefix] of PRIVATE_IPV4) {
  PRIVATE_4.addSubnet(network, prefix, 'ipv4')
  // NAT64 leads to public IPv4 addresses, too.
  PRIVATE_6.addSubnet(`64:ff9b::${network}`, 96 + prefix, 'ipv6')
}

/** Whether an IP address is on this machine or in a private network, or leads there. */
export const isPrivateIp = (ip: string): boolean =>
  isIP(ip) === 6 ? PRIVATE_6.check(ip, 'ipv6') : PRIVATE_4.check(ip, 'ipv4')

/** Whether an address is on this machine or in a private network, judged by its spelling alone. */
export function isPrivateAddress(address: string | URL): boolean {
  const host = new URL(address).hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(host) === 0 ? isLoopback(address) : isPrivateIp(host)
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
