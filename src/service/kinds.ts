import type { Instant } from '../util/time/instant.ts'

/** The formats of dates in requests. */
const DATE_FORMS = ['utc', 'offset', 'spaced'] as const
export type DateForm = (typeof DATE_FORMS)[number]

/** A word. Jobs may use `aliases`, which are replaced by their words. */
export interface Choice<V extends string> {
  readonly kind: 'choice'
  readonly values: readonly V[]
  readonly aliases: Readonly<Record<string, V>>
}
/** An instant in the format of the route. */
export interface InstantParam {
  readonly kind: 'instant'
  readonly form: DateForm
}

/** The values of other parameters by their kind. */
interface PlainValues {
  /** Several values, sent as `name[]=a&name[]=b`. */
  readonly list: readonly (string | number)[]
  readonly flag: boolean
  /** A whole number. */
  readonly id: number
  readonly idOrName: number | string
}
export interface PlainParam<Kind extends keyof PlainValues> {
  readonly kind: Kind
}

export type ParameterKind =
  | (Choice<string> | InstantParam)
  | { readonly [Kind in keyof PlainValues]: PlainParam<Kind> }[keyof PlainValues]

/** The value of a parameter of this kind. */
export type ValueOf<K> =
  K extends Choice<infer V>
    ? V
    : K extends InstantParam
      ? Instant
      : K extends PlainParam<infer Kind>
        ? PlainValues[Kind]
        : never

export const choice = <const V extends string>(
  values: readonly V[],
  aliases: Readonly<Record<string, NoInfer<V>>> = {},
): Choice<V> => ({ kind: 'choice', values, aliases })
export const instant = (form: DateForm): InstantParam => ({ kind: 'instant', form })
export const list: PlainParam<'list'> = { kind: 'list' }
export const flag: PlainParam<'flag'> = { kind: 'flag' }
export const id: PlainParam<'id'> = { kind: 'id' }
export const idOrName: PlainParam<'idOrName'> = { kind: 'idOrName' }
