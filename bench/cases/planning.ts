import type { Bench, Section } from '../bench.ts'
export async function planning(_: Bench): Promise<Section[]> {
  return []
}
