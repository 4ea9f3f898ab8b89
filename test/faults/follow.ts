import { expect } from 'vitest'
import { exitCodes } from '../../src/core/error.ts'
import type { OwnLab } from '../lab/support/own-lab.ts'
import type { Answer } from '../support/terminal.ts'

/** Faults whose `Next:` is followed to health: one for each way that it can take. */
export const followed: readonly string[] = [
  'service-down',
  'stuck-lock/given-up',
  'lock-vanished/freed',
  'settings-not-applied',
  'unfinished-repair/here',
  'unfinished-repair/elsewhere',
  'run-planted/repair',
  // what stands looks as if a repair had left it, so that every repair is refused until the record is gone
  'service-down run-planted/repair',
]

/** Where following `Next:` came to, and by which commands. */
export interface Followed {
  path: readonly string[]
  /** null: the deployment is healthy; else the step that is left to do by hand */
  byHand: string | null
  /** the service was started and migrates, which takes as long as it takes: the run is left unfinished */
  isMigrating?: true
}

const mostSteps = 8
const nextLine = /^Next: (.+)$/m
/** A command for a shell, and on which machine it is typed. */
const stepByHand = /^(?!testops-admin\b)(?:[a-z][\w./-]*|\$\{EDITOR:-vi\}) .* {3}# (?:on |where |asks for )\S+/
const waiting = /^testops-admin doctor .* {3}# run the checks again once the running migration or repair has finished$/
const migrating = /is migrating its database|may be waiting for the change-log lock/
/**
 * The name of the deployment, where it is asked for; and Ctrl-C, where a service is waited for that migrates for
 * long.
 */
const answering: readonly Answer[] = [
  [/to confirm: /, 'lab\r'],
  [migrating, '\u0003', 30_000],
]

/**
 * Types what `Next:` says, as it is printed, on a terminal, until doctor finds nothing or a step is left to do by hand,
 * which names its machine and command. Fails where it leads in a circle, to a command that does not run as it stands,
 * or nowhere.
 */
export async function followNext(lab: OwnLab): Promise<Followed> {
  const path: string[] = []
  for (;;) {
    const doctor = await lab.type('testops-admin doctor -d lab')
    if (doctor.exitCode === 0) return { path, byHand: null }
    let next = nextLine.exec(doctor.text)?.[1]
    expect(next, `after ${path.join('; ')}:\n${doctor.text}`).toBeDefined()
    while (next !== undefined) {
      if (!next.startsWith('testops-admin ')) {
        expect(next).toMatch(stepByHand)
        return { path, byHand: next }
      }
      // of a migration that is under way, which takes as long as it takes
      if (waiting.test(next)) return { path, byHand: next }
      expect(path, 'it leads in a circle').not.toContain(next)
      expect(path.length, path.join('\n')).toBeLessThan(mostSteps)
      path.push(next)
      const { exitCode, text } = await lab.type(next, answering)
      if (migrating.test(text) && exitCode === exitCodes.INTERRUPTED) return { path, byHand: null, isMigrating: true }
      expect([0, 1, 2], `${next}\n${text}`).toContain(exitCode)
      next = nextLine.exec(text)?.[1]
    }
  }
}
