/** A kind of service that speaks this API. */
export interface Service {
  readonly name: string
  /** The word in the media type `application/vnd.<vendor>-v<N>+json`. */
  readonly vendor: string
  /** Where it is, when that is the same for everybody. */
  readonly baseUrl: string | null
  /** The zone in which it counts days and writes offsets. */
  readonly timeZone: string
}

/** The profiles that `--service` names. Source: the specification, and the operator's own pages for `esios`. */
export const SERVICES = {
  generic: { name: 'generic', vendor: 'service-api', baseUrl: null, timeZone: 'Europe/Madrid' },
  esios: { name: 'esios', vendor: 'esios-api', baseUrl: 'https://api.esios.ree.es', timeZone: 'Europe/Madrid' },
} as const satisfies Record<string, Service>

export type ServiceName = keyof typeof SERVICES
export const SERVICE_NAMES = Object.keys(SERVICES) as ServiceName[]
