/** The remainder of a division, never negative. */
export const modulo = (a: number, b: number): number => ((a % b) + b) % b
