import { defineRepair } from '../../../src/core/repair.ts'
import type { RepairSession } from '../../../src/cli/repair/session.ts'
import type { RepairFlags } from '../../../src/cli/repair/flags.ts'
import type { Wish } from '../../../src/cli/repair/run-repair.ts'
import type { RepairLock } from '../../../src/core/lock.ts'
import type { Journals } from '../../../src/core/run.ts'
import { machine, planOf, stuck } from '../../engine/repairing.ts'
import { fakeDeployment, openFakes } from '../../fakes/index.ts'
import type { FakeDeployment } from '../../fakes/index.ts'

/** Frees a lock that is held: what `unlock-changelog` does, without its judgement. */
const freeing = defineRepair({
  id: 'unlock-changelog',
  title: 'release the change-log lock',
  reads: ['database'],
  wants: [],
  async plan({ database: [database] }) {
    const [table] = await database.changelogLocks()
    const row = table?.rows?.[0]
    const { repair: _, deployment: __, options: ___, ...draft } = planOf()
    if (!row?.locked) return { ...draft, steps: [] }
    const steps = draft.steps.map((step) =>
      step.action.kind === 'release-lock'
        ? {
            ...step,
            action: {
              ...step.action,
              accepts: row.lockedBy === 'alive' ? ('live-holder' as const) : ('unproven-holder' as const),
              row: { locked: row.locked, lockGranted: row.lockGranted, lockedBy: row.lockedBy },
            },
          }
        : step,
    )
    const isAlive = row.lockedBy === 'alive'
    const unproven = {
      name: 'unproven-holder',
      message: 'nothing shows whether the holder is alive',
      proof: ['see whether it does'],
    }
    return {
      ...draft,
      steps,
      risks: [
        isAlive
          ? { name: 'live-holder', message: 'the holder is alive: pid 7', proof: ['wait until it has ended'] }
          : unproven,
      ],
    }
  },
})

export const wish: Wish = {
  repair: freeing,
  options: { restart: true, schema: null },
  words: ['unlock-changelog', '-d', 'prod'],
  version: '0.1.0',
}
export const flags: RepairFlags = {
  json: false,
  verbose: false,
  confirm: 'prod',
  'accept-risk': ['unproven-holder'],
  patience: 2,
}
/** The same, with the risk of a record that others may have written. */
export const adopting: Pick<RepairFlags, 'confirm' | 'accept-risk'> = {
  confirm: 'prod',
  'accept-risk': ['unproven-holder', 'foreign-run'],
}

export interface Operator {
  session: RepairSession
  deployment: FakeDeployment
  journals: ReturnType<typeof machine>
}

/** An operator before a deployment with a stuck lock, unless told otherwise. */
export function operator(
  of: {
    deployment?: FakeDeployment
    journals?: ReturnType<typeof machine>
    there?: Journals['there']
    locks?: readonly RepairLock[]
    failpoint?: RepairSession['failpoint']
    signal?: AbortSignal
  } = {},
): Operator {
  const {
    deployment = fakeDeployment({ rows: [stuck] }),
    journals = machine(),
    locks = [],
    failpoint = async () => undefined,
  } = of
  const session: RepairSession = {
    by: 'op@bastion',
    timeoutMs: 1000,
    signal: of.signal ?? new AbortController().signal,
    failpoint,
    opened: {
      deployment: {
        name: 'prod',
        config: 'own.yaml',
        platform: 'host',
        vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
        timeZone: 'UTC',
      },
      open: openFakes(deployment.sources),
      control: deployment.control,
      // no repair hands out tokens
      login: async () => Promise.reject(new Error('asked for a token')),
      locks: async () => locks,
      journals: { here: journals.here, there: of.there ?? journals.there },
      commands: null,
      renew: () => undefined,
      close: async () => undefined,
    },
  }
  return { session, deployment, journals }
}

/** Runs with what it says on standard error kept from the screen; gives that. */
export async function saidBy(work: () => Promise<unknown>): Promise<string> {
  const write = process.stderr.write.bind(process.stderr)
  let said = ''
  process.stderr.write = (text: string | Uint8Array): boolean => {
    said += String(text)
    return true
  }
  try {
    await work()
  } finally {
    process.stderr.write = write
  }
  return said
}
