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
/** Several values, sent as `name[]=a&name[]=b`. */
export interface List {
  readonly kind: 'list'
}
/** `true` or `false`. */
export interface Flag {
  readonly kind: 'flag'
}
/** A whole number. */
export interface Id {
  readonly kind: 'id'
}
/** A whole number or a name. */
export interface IdOrName {
  readonly kind: 'idOrName'
}

export type ParameterKind = Choice<string> | InstantParam | List | Flag | Id | IdOrName

/** The value of a parameter of this kind. */
export type ValueOf<K> =
  K extends Choice<infer V>
    ? V
    : K extends InstantParam
      ? Instant
      : K extends List
        ? readonly (string | number)[]
        : K extends Flag
          ? boolean
          : K extends Id
            ? number
            : K extends IdOrName
              ? number | string
              : never

export const choice = <const V extends string>(
  values: readonly V[],
  aliases: Readonly<Record<string, NoInfer<V>>> = {},
): Choice<V> => ({ kind: 'choice', values, aliases })
export const instant = (form: DateForm): InstantParam => ({ kind: 'instant', form })
export const list: List = { kind: 'list' }
export const flag: Flag = { kind: 'flag' }
export const id: Id = { kind: 'id' }
export const idOrName: IdOrName = { kind: 'idOrName' }
