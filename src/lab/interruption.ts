import { AdminError } from '../core/error.ts'
import { holdsLab } from './contents.ts'
import type { LabLayout } from './layout.ts'
import { readState } from './state.ts'

/** Reads from the lab's files what an interrupted command left, and says what to do next. */
export async function interruption(layout: LabLayout, cause: unknown): Promise<AdminError> {
  const left = await whatIsLeft(layout)
  return new AdminError('INTERRUPTED', `interrupted: ${states[left].message}`, states[left].suggestions, { cause })
}

const states = {
  nothing: { message: 'there is no lab now', suggestions: ['testops-admin lab up'] },
  starting: { message: 'the lab is only partly up', suggestions: ['testops-admin lab up', 'testops-admin lab down'] },
  stopping: { message: 'the lab is only partly removed', suggestions: ['testops-admin lab down'] },
  broken: {
    message: 'the lab is broken, maybe only partly',
    suggestions: ['testops-admin lab status', 'testops-admin lab mend', 'testops-admin lab down'],
  },
  up: {
    message: 'the lab may be incomplete',
    suggestions: ['testops-admin lab status', 'testops-admin lab up', 'testops-admin lab down'],
  },
} as const

async function whatIsLeft(layout: LabLayout): Promise<keyof typeof states> {
  try {
    const state = await readState(layout)
    if (state) return state.phase === 'up' && state.faults.length > 0 ? 'broken' : state.phase
    return (await holdsLab(layout)) ? 'stopping' : 'nothing'
  } catch {
    // damaged: `lab down` still removes it
    return 'stopping'
  }
}
