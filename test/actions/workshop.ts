import type { Workshop } from '../../src/actions/index.ts'
import { openFakes } from '../fakes/index.ts'
import type { FakeDeployment } from '../fakes/index.ts'

/** What a handler works with on a deployment in memory, and the failpoints that it passed. */
export function workshopOf(
  deployment: FakeDeployment,
  of: Partial<Workshop> = {},
): Workshop & { readonly passed: string[] } {
  const passed: string[] = []
  return {
    deployment: {
      name: 'prod',
      platform: 'host',
      vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
      timeZone: 'UTC',
    },
    open: openFakes(deployment.sources),
    control: deployment.control,
    timeoutMs: 1000,
    patienceMs: 1000,
    progress: () => undefined,
    result: () => undefined,
    moving: () => undefined,
    signal: new AbortController().signal,
    isTested: true,
    changed: [],
    saved: null,
    given: new Map(),
    failpoint: async (name) => void passed.push(name),
    journal: {
      performed: false,
      notes: deployment.notes,
      ofRun: () => deployment.notes,
      isRepeated: false,
      note: async (text) => void deployment.notes.push(text),
      keep: async (name, text) => deployment.kept.set(name, text) === deployment.kept,
      kept: async (name) => deployment.kept.get(name) ?? null,
    },
    ...of,
    passed,
  }
}
