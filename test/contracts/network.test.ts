import { describe, expect, test } from 'vitest'
import { networkSource } from '../../src/adapters/network.ts'
import type { NetworkSource } from '../../src/core/sources.ts'
import { fakeNetwork } from '../fakes/index.ts'

const networks: { what: string; network: NetworkSource }[] = [
  { what: 'real', network: networkSource({ timeoutMs: 20_000 }) },
  { what: 'fake', network: fakeNetwork({ resolve: (host) => !host.endsWith('.invalid') }) },
]

describe.each(networks)('network, $what', ({ network }) => {
  test.each([
    { host: 'localhost', resolves: true },
    { host: '127.0.0.1', resolves: true },
    { host: 'no-such-host.invalid', resolves: false },
  ])('$host resolves: $resolves', async ({ host, resolves }) => {
    expect(await network.resolve(host)).toBe(resolves)
  })
})
