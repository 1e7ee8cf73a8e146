import type { Bench, Section } from '../bench.ts'
export async function large(_: Bench): Promise<Section[]> {
  return []
}
