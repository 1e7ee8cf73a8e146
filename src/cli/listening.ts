/** The error for an address at which this machine cannot listen. */
export const LISTENING_REFUSED: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EADDRNOTAVAIL: 'this machine does not have that address',
  EACCES: 'this user may not listen there',
  ENOTFOUND: 'there is no such host name',
  EAI_AGAIN: 'the host name cannot be looked up now',
  EINVAL: 'that is not a valid address',
}
