import type { Bench, Section } from '../bench.ts'
export async function wire(_: Bench): Promise<Section[]> {
  return []
}
