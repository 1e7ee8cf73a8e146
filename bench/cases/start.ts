import type { Bench, Section } from '../bench.ts'
export async function start(_: Bench): Promise<Section[]> {
  return []
}
