/*
 * Translates SQL of tests from SQLite to PostgreSQL, with the functions of the schema `compat`. Quoted text and
 * comments remain unchanged.
 */

/** Strings, quoted names, comments, dollar quotes, casts, parameters, numbers, words, space, and other characters. */
const TOKEN =
  /(e'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\2\$)|(::|:=)|(:[a-z_]\w*)|(\d+\.\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d+)|([a-z_][\w$]*)|(\s+)|[\s\S]/gi

type TokenKind = 'quoted' | 'parameter' | 'decimal' | 'word' | 'space' | 'sign'
interface Token {
  readonly kind: TokenKind
  text: string
}

const tokenize = (sql: string): Token[] =>
  [...sql.matchAll(TOKEN)].map(([text, quoted, , cast, parameter, number, word, space]): Token => {
    if (quoted !== undefined) return { kind: text.startsWith('--') || text.startsWith('/*') ? 'space' : 'quoted', text }
    if (parameter !== undefined) return { kind: 'parameter', text }
    if (number !== undefined) return { kind: /\D/.test(number) ? 'decimal' : 'sign', text }
    if (word !== undefined) return { kind: 'word', text }
    return { kind: space === undefined || cast !== undefined ? 'sign' : 'space', text }
  })

/** Words that may follow `is` in both dialects. */
const AFTER_IS = ['null', 'true', 'false', 'distinct', 'unknown', 'document', 'json', 'normalized']
/** Words that end the table of a join. */
const ENDS_JOIN = ['join', 'left', 'right', 'full', 'inner', 'cross', 'natural', 'where', 'group', 'order', 'limit']
const MORE_ENDS = ['union', 'except', 'intersect', 'window', 'having', 'select']
/** Words after a table without an alias. */
const NO_ALIAS = [...ENDS_JOIN, ...MORE_ENDS, 'on', 'using', 'offset', 'fetch', 'for', 'tablesample']
/** Functions of the program whose names PostgreSQL would resolve to its own function or type. */
const SHADOWED_FUNCTIONS = ['date', 'round']

/** Translates a statement to PostgreSQL; `parameter` returns the placeholder of a named value. */
export function portable(sql: string, parameter: (name: string) => string = (name) => `:${name}`): string {
  const tokens = tokenize(sql)
  const is = (token: Token | undefined, ...words: readonly string[]): boolean =>
    token?.kind === 'word' && words.includes(token.text.toLowerCase())
  const next = (from: number): number => {
    let i = from + 1
    while (tokens[i]?.kind === 'space') i++
    return i
  }
  const last = (from: number): number => {
    let i = from - 1
    while (tokens[i]?.kind === 'space') i--
    return i
  }
  /** Whether the join at this position has a condition. */
  const hasCondition = (from: number): boolean => {
    for (let i = from, depth = 0; i < tokens.length; i++) {
      const token = tokens[i]!
      if (token.text === '(') depth++
      else if (token.text === ')' && --depth < 0) return false
      else if (depth > 0) continue
      else if (is(token, 'on', 'using')) return true
      else if (token.text === ',' || is(token, ...ENDS_JOIN, ...MORE_ENDS)) return false
    }
    return false
  }
  const open: boolean[] = []
  let unnamed = 0
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!
    if (token.kind === 'decimal') token.text = `${token.text}::float8`
    else if (token.kind === 'parameter') token.text = parameter(token.text.slice(1))
    else if (is(token, 'is')) {
      const after = next(i)
      const negated = is(tokens[after], 'not')
      if (is(tokens[negated ? next(after) : after], ...AFTER_IS)) continue
      if (negated) tokens[after]!.text = 'distinct from'
      else token.text = 'is not distinct from'
    } else if (is(token, 'cross') && is(tokens[next(i)], 'join')) {
      if (hasCondition(next(i) + 1)) token.text = ''
    } else if (is(token, ...SHADOWED_FUNCTIONS) && tokens[i + 1]?.text === '(' && tokens[last(i)]?.text !== '.')
      token.text = `compat.${token.text}`
    else if (token.text === '(') open.push(is(tokens[last(i)], 'from', 'join') && is(tokens[next(i)], 'select', 'with'))
    else if (token.text === ')' && open.pop()) {
      const after = tokens[next(i)]
      const named = (after?.kind === 'word' && !is(after, ...NO_ALIAS)) || after?.text.startsWith('"')
      // PostgreSQL before version 16 requires a name.
      if (!named) token.text = `) as unnamed_${++unnamed}`
    }
  }
  return tokens.map(({ text }) => text).join('')
}
