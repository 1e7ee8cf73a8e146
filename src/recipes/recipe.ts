/** A question that analysts ask, with its SQL: plain SQLite, to be run here or anywhere else. */
export interface Recipe {
  readonly name: string
  readonly asks: string
  /** Its parameters and what they are when nobody says. Null: no limit. Days are local, `YYYY-MM-DD`; `to` is not included. */
  readonly parameters: Readonly<Record<string, string | number | null>>
  readonly sql: string
}

/** The part of a local day range that every recipe on values shares. */
export const RANGE = '(:from is null or local_date >= :from) and (:to is null or local_date < :to)'
export const ALWAYS = { from: null, to: null } as const

const literal = (value: string | number): string =>
  typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`

/** The statement of a recipe for tools that send every parameter as text, and nothing as an empty one: the defaults are in it. */
export function withDefaults({ sql, parameters }: Recipe): string {
  return sql.replaceAll(/:(\w+)/g, (mark, name: string) => {
    if (!Object.hasOwn(parameters, name)) return mark
    const value = parameters[name]!
    if (value === null) return `nullif(:${name}, '')`
    const given = `coalesce(nullif(:${name}, ''), ${literal(value)})`
    return typeof value === 'number' ? `cast(${given} as numeric)` : given
  })
}
