import { AdminError } from '../core/error.ts'
import type { Workshop } from './handler.ts'

/**
 * True if the platform still counts this program as the owner of fields that it wrote, as after a kill. The owner of
 * the workload could not set them then.
 */
export async function ownsFields(workshop: Pick<Workshop, 'control'>): Promise<boolean> {
  try {
    return (await (await workshop.control.service()).ownsFields?.()) ?? false
  } catch (error) {
    // a program that can write nothing owns no fields
    if (error instanceof AdminError && ['NOT_CONFIGURED', 'UNAVAILABLE'].includes(error.code)) return false
    throw error
  }
}

/** Releases the fields that the platform still counts as this program's; harmless if there are none. */
export async function giveUpFields(workshop: Pick<Workshop, 'control'>): Promise<void> {
  try {
    await (await workshop.control.service()).giveUpFields?.()
  } catch (error) {
    if (!(error instanceof AdminError && ['NOT_CONFIGURED', 'UNAVAILABLE'].includes(error.code))) throw error
  }
}
