/** A quantity that the service names, with its unit. */
export interface Magnitude {
  /** Its id at the service (`indicator.magnitude_id`), which stays when the service renames it. */
  readonly id: number
  /** The unit of its values. */
  readonly unit: string
  /** What its values are: `power` times hours is an energy, and `energy` per period is summed. */
  readonly measure: 'power' | 'energy' | 'price'
  /** Where the id and the unit are stated. */
  readonly source: string
  /** Whether the id or the unit is inferred, and not stated by the service. */
  readonly isAssumed: boolean
}

/** The quantities whose units are known. The service states no units: others keep its name for them. */
export const MAGNITUDES: readonly Magnitude[] = [
  {
    id: 13,
    unit: 'MWh',
    measure: 'energy',
    source: 'Id: responses of the service. Unit: catalogue descriptions of energies, such as indicators 533 and 556',
    isAssumed: false,
  },
  {
    id: 20,
    unit: 'MW',
    measure: 'power',
    source: 'Id: other clients of the service. Unit: catalogue descriptions of powers, such as indicators 464 and 488',
    isAssumed: true,
  },
  {
    id: 23,
    unit: '€/MWh',
    measure: 'price',
    source: 'Id and unit: responses of the service, which name it Precio €/MWh',
    isAssumed: false,
  },
]
