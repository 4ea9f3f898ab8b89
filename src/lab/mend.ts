import { exitCodeOf } from '../engine/exit-code.ts'
import { make } from './break.ts'
import { findCase } from './find-case.ts'
import type { NamedCase } from './find-case.ts'
import { waitUntilHealthy } from './health.ts'
import { goOn, openLab, remember } from './lab.ts'
import type { Lab, LabOptions } from './lab.ts'
import { reconcileServers } from './lab-servers.ts'
import { asOperator } from './operator-lock.ts'
import { rotateLog, startLabService, stopLabService, waitUntilServing, writeDown } from './service.ts'

export interface Mended {
  /** names of the faults whose cause was taken away */
  mended: readonly string[]
  /** names of those that stay */
  remaining: readonly string[]
  /** doctor finds nothing; null: not asked, since something stays broken */
  healthy: true | null
}

/**
 * Takes the causes away, all or the named ones, and waits until doctor finds nothing. What is not named is made again
 * afterwards. Throws FAILED where it does not become healthy, USAGE for a name that is none, UNAVAILABLE, BUSY,
 * INTERRUPTED.
 */
export async function mendLab(options: LabOptions, names: readonly string[]): Promise<Mended> {
  const wanted = names.map((name) => findCase(name, 'mend'))
  const { layout } = await openLab(options)
  return asOperator(
    layout,
    ['lab mend', ...names].join(' '),
    async () => {
      const lab = await openLab(options)
      const there = lab.state.faults.map(({ name }) => findCase(name, 'mend'))
      const isWanted = ({ name, fault }: NamedCase): boolean =>
        names.length === 0 || wanted.some((it) => it.name === name) || names.includes(fault.id)
      const mended = there.filter(isWanted)
      const remaining = there.filter((it) => !isWanted(it))
      if (names.length > 0 && mended.length === 0)
        return { mended: [], remaining: remaining.map(({ name }) => name), healthy: null }
      if (there.length === 0 && (await isHealthy(lab))) return { mended: [], remaining: [], healthy: true }
      await takeBack(lab, there)
      for (const it of remaining) await make(lab, it)
      if (remaining.length === 0) {
        lab.progress('waiting until doctor finds nothing')
        await waitUntilHealthy(lab)
      }
      return {
        mended: mended.map(({ name }) => name),
        remaining: remaining.map(({ name }) => name),
        healthy: remaining.length === 0 ? true : null,
      }
    },
    options,
  )
}

/** Makes the deployment whole: servers, their contents, settings, service. Each step is harmless when done again. */
async function takeBack(lab: Lab, there: readonly NamedCase[]): Promise<void> {
  for (const { name } of there) lab.progress(`mending: ${name}`)
  await remember(lab, {
    currentLine: lab.state.brokerLine,
    faults: lab.state.faults.map((it) => ({ ...it, state: 'half' as const })),
  })
  await stopLabService(lab)
  await reconcileServers(lab)
  for (const { case: it } of [...there].reverse()) {
    goOn(lab)
    await it.revert(lab)
  }
  await rotateLog(lab)
  await remember(lab, { faults: [] })
  await writeDown(lab)
  await startLabService(lab)
  await waitUntilServing(lab)
}

async function isHealthy(lab: Lab): Promise<boolean> {
  return exitCodeOf(await lab.diagnose(lab.signal)) === 0
}
