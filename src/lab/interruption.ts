import { AdminError } from '../core/error.ts'
import { holdsLab } from './contents.ts'
import type { LabLayout } from './layout.ts'
import { readState } from './state.ts'

/**
 * What an interrupted command has left, and what helps then: as the lab's own files say afterwards, whatever was being
 * done.
 */
export async function interruption(layout: LabLayout, cause: unknown): Promise<AdminError> {
  const left = await whatIsLeft(layout)
  return new AdminError('INTERRUPTED', `interrupted: ${states[left].message}`, states[left].suggestions, { cause })
}

const states = {
  nothing: { message: 'nothing is left of the lab', suggestions: ['testops-admin lab up'] },
  starting: { message: 'the lab has not come up', suggestions: ['testops-admin lab up', 'testops-admin lab down'] },
  stopping: { message: 'the lab is not all gone', suggestions: ['testops-admin lab down'] },
  broken: {
    message: 'the lab is broken, and may be only in part',
    suggestions: ['testops-admin lab status', 'testops-admin lab mend', 'testops-admin lab down'],
  },
  up: {
    message: 'the lab may not be as it should be',
    suggestions: ['testops-admin lab status', 'testops-admin lab up', 'testops-admin lab down'],
  },
} as const

async function whatIsLeft(layout: LabLayout): Promise<keyof typeof states> {
  try {
    const state = await readState(layout)
    if (state) return state.phase === 'up' && state.faults.length > 0 ? 'broken' : state.phase
    return (await holdsLab(layout)) ? 'stopping' : 'nothing'
  } catch {
    // damaged: `lab down` takes it away all the same
    return 'stopping'
  }
}
