import type { NetworkSource } from '../../src/core/sources.ts'
import { fake } from './fake.ts'
import type { Answers } from './fake.ts'

/** A network in which every name resolves, unless told otherwise. */
export function fakeNetwork(answers: Answers<NetworkSource> = {}): NetworkSource {
  return fake<NetworkSource>({ resolve: true }, ['resolve'], answers)
}
