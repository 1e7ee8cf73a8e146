/** A number with thousands apart: 52,416. */
export const grouped = (n: number): string => {
  const [whole = '', ...part] = String(n).split('.')
  return [whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ','), ...part].join('.')
}

/** A number with what is counted, of which there is one or many: 1 request, 52,416 requests. */
export const quantity = (n: number, one: string, many = `${one}s`): string => `${grouped(n)} ${n === 1 ? one : many}`
