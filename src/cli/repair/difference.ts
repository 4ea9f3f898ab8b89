import type { Plan } from '../../core/plan.ts'
import { printable } from '../../output/text.ts'
import type { RepairSession } from './session.ts'

/**
 * What a plan changes in files, line by line; '' where it changes none. It is shown and kept nowhere, since a line may
 * hold a secret.
 */
export async function differenceOf({ opened }: Pick<RepairSession, 'opened'>, { steps }: Plan): Promise<string> {
  const parts: string[] = []
  for (const { action } of steps) {
    if (action.kind !== 'edit-values') continue
    const lines = (await (await opened.open.files()).difference(action.file, action.edits)).split('\n').filter(Boolean)
    parts.push(`${printable(action.file)}\n${lines.map((line) => `    ${printable(line)}\n`).join('')}`)
  }
  return parts.join('')
}
