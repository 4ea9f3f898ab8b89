import { exitCodeOf } from '../engine/report.ts'
import { make } from './break.ts'
import { endDrill, refuseInDrill } from './drill-record.ts'
import type { PastDrill } from './drill-record.ts'
import { findCase } from './fault-list.ts'
import type { NamedCase } from './fault-list.ts'
import { waitUntilHealthy } from './health.ts'
import { goOn, openLab, remember } from './lab.ts'
import type { Lab, LabOptions } from './lab.ts'
import { reconcileServers } from './lab-servers.ts'
import { asOperator } from './operator-lock.ts'
import { rotateLog, startLabService, stopLabService, waitUntilServing, writeDown } from './service.ts'

export interface Mended {
  /** names of the faults whose cause was removed */
  mended: readonly string[]
  /** names of the faults that remain */
  remaining: readonly string[]
  /** true if doctor finds nothing; null if it was not run: faults remain, or none of the named ones was there */
  healthy: true | null
  /** the drill that this ended; left out: none was under way */
  drill?: PastDrill
}

/**
 * Removes the causes of all faults, or of the named ones, and waits until doctor finds nothing. Then makes the other
 * faults again. Throws FAILED if the lab does not become healthy; USAGE for an unknown name; UNAVAILABLE, BUSY,
 * INTERRUPTED.
 *
 * Ends a drill that is under way: it counts as given up. Throws REFUSED if faults are named then, since the answer
 * would give them away.
 */
export async function mendLab(options: LabOptions, names: readonly string[]): Promise<Mended> {
  const wanted = names.map((name) => findCase(name, 'mend'))
  const { layout } = await openLab(options)
  return asOperator(
    layout,
    ['lab mend', ...names].join(' '),
    async () => {
      const lab = await openLab(options)
      if (names.length > 0) await refuseInDrill(layout, ['lab mend', ...names].join(' '))
      const drill = await endDrill(layout, 'mended', options.progress)
      if (drill) lab.progress('this ends the drill, which counts as given up')
      const ending = drill ? { drill } : {}
      const there = lab.state.faults.map(({ name }) => findCase(name, 'mend'))
      const isWanted = ({ name, fault }: NamedCase): boolean =>
        names.length === 0 || wanted.some((it) => it.name === name) || names.includes(fault.id)
      const mended = there.filter(isWanted)
      const remaining = there.filter((it) => !isWanted(it))
      if (names.length > 0 && mended.length === 0)
        return { mended: [], remaining: remaining.map(({ name }) => name), healthy: null }
      if (there.length === 0 && (await isHealthy(lab))) return { mended: [], remaining: [], healthy: true, ...ending }
      if (remaining.length === 0) await mendAll(lab)
      else {
        await undoSteps(lab, there)
        for (const it of remaining) await make(lab, it)
      }
      return {
        ...ending,
        mended: mended.map(({ name }) => name),
        remaining: remaining.map(({ name }) => name),
        healthy: remaining.length === 0 ? true : null,
      }
    },
    options,
  )
}

/** Removes the causes of all faults, and waits until doctor finds nothing. The caller holds the operator lock. */
export async function mendAll(lab: Lab): Promise<void> {
  await undoSteps(
    lab,
    lab.state.faults.map(({ name }) => findCase(name, 'mend')),
  )
  lab.progress('waiting until `doctor` finds no problem')
  await waitUntilHealthy(lab)
}

/** Restores the deployment: servers, their contents, settings, service. Each step can safely run twice. */
async function undoSteps(lab: Lab, there: readonly NamedCase[]): Promise<void> {
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
