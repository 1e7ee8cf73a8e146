const mix = (h: number, part: number): number => {
  let x = h ^ (part | 0)
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return x ^ (x >>> 16)
}

/**
 * A pseudo-random number in [-1, 1) that depends on all arguments; equal arguments give equal numbers.
 * Mixing after the finaliser of MurmurHash3.
 */
export const noise = (seed: number, a: number, b = 0, c = 0, d = 0): number =>
  (mix(mix(mix(mix(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b), a), b), c), d) >>> 0) / 2_147_483_648 - 1

/** Noise that changes smoothly with time: a new number every `every` seconds, interpolated in between. */
export function smoothNoise(seed: number, a: number, b: number, every: number): (at: number) => number {
  let slot = Number.NaN
  let before = 0
  let after = 0
  return (at) => {
    const here = Math.floor(at / every)
    if (here !== slot) {
      slot = here
      before = noise(seed, a, b, here, every)
      after = noise(seed, a, b, here + 1, every)
    }
    const part = at / every - here
    const blend = part * part * (3 - 2 * part)
    return before + (after - before) * blend
  }
}
