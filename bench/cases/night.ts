import type { Bench, Section } from '../bench.ts'
export async function night(_: Bench): Promise<Section[]> {
  return []
}
