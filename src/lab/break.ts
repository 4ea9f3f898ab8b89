import { AdminError } from '../core/error.ts'
import { refuseInDrill } from './drill-record.ts'
import { findCase } from './fault-list.ts'
import type { NamedCase } from './fault-list.ts'
import { goOn, openLab, remember, serversOf } from './lab.ts'
import type { Lab, LabOptions } from './lab.ts'
import { assertOwn, useBroker } from './lab-servers.ts'
import { asOperator } from './operator-lock.ts'
import { isServing, restartLabService, serviceStatus, writeDown } from './service.ts'
import { command } from '../core/shell-command.ts'
import { readFile } from 'node:fs/promises'
import { parseEnvironmentFile } from '../platforms/host/index.ts'
import { overlayOf } from './changes.ts'
import { unitIn } from './service-control/unit.ts'
import type { BrokenFault } from './state.ts'

export interface Broken {
  /** faults that this command made */
  made: readonly NamedCase[]
  /** names of the faults that the lab already had */
  already: readonly string[]
}

/**
 * Makes these faults one after another. Records each fault before it begins, so `lab mend` can also remove an
 * unfinished one. Throws USAGE; UNAVAILABLE if there is no lab or its servers cannot make a fault; REFUSED, BUSY,
 * INTERRUPTED.
 */
export async function breakLab(options: LabOptions, names: readonly string[]): Promise<Broken> {
  const wanted = [...new Map(names.map((name) => findCase(name, 'break')).map((it) => [it.name, it])).values()]
  const { layout } = await openLab(options)
  return asOperator(
    layout,
    `lab break ${names.join(' ')}`,
    async () => {
      const lab = await openLab(options)
      await refuseInDrill(layout, 'lab break')
      const already = wanted
        .map(({ name }) => name)
        .filter((name) => lab.state.faults.some((it) => it.name === name && it.state === 'broken'))
      const made = await makeAll(
        lab,
        wanted.filter(({ name }) => !already.includes(name)),
      )
      return { made, already }
    },
    options,
  )
}

/**
 * Makes faults in the order that works. Returns them in that order. The caller holds the operator lock. Throws as
 * `breakLab`.
 */
export async function makeAll(
  lab: Lab,
  wanted: readonly NamedCase[],
  options: MakeOptions = {},
): Promise<readonly NamedCase[]> {
  const made = inOrder(wanted)
  await assertPossible(lab, made)
  for (const it of made) await make(lab, it, options)
  return made
}

interface MakeOptions {
  /** true for a drill: no text names the fault */
  hidden?: true
}

/**
 * Sorts faults into the order to make them in. Those that need a working service come first. An alarm, which blocks
 * publishing, comes late; a stopped server comes last.
 */
function inOrder(wanted: readonly NamedCase[]): NamedCase[] {
  const rank = ({ case: { needs, expected } }: NamedCase): number => {
    if (needs?.serving) return 0
    const problems = Object.keys(expected.problems)
    if (problems.some((id) => id.endsWith('/reachable'))) return 3
    return problems.includes('broker/alarms') ? 2 : 1
  }
  return [...wanted].sort((one, other) => rank(one) - rank(other))
}

/** Makes one fault. The caller holds the operator lock. */
export async function make(
  lab: Lab,
  { name, case: { changes = {}, needs, apply } }: NamedCase,
  options: MakeOptions = {},
): Promise<void> {
  goOn(lab)
  if (needs?.serving && !(await isServing(lab))) throw silent(lab, name)
  lab.progress(`breaking: ${name}`)
  const others = (await faultsAsRepaired(lab)).filter((it) => it.name !== name)
  const record = { name, since: new Date().toISOString(), changes, ...options }
  await remember(lab, { faults: [...others, { ...record, state: 'half' }] })
  const exchanged = needs?.broker !== undefined && (await useBroker(lab, needs.broker))
  if (exchanged) await restartLabService(lab)
  else await writeDown(lab)
  await apply(lab)
  await remember(lab, { faults: [...others, { ...record, state: 'broken' }] })
}

function silent({ state }: Lab, name: string): AdminError {
  const broken = state.faults.map((it) => it.name)
  const because = broken.length > 0 ? ` (broken by ${broken.join(', ')})` : ''
  return new AdminError('REFUSED', `cannot create fault ${name}: the practice service does not answer${because}`, [
    'testops-admin lab mend',
    command`testops-admin lab break ${[name, ...broken]}`,
  ])
}

async function assertPossible(lab: Lab, wanted: readonly NamedCase[]): Promise<void> {
  const servers = await serversOf(lab)
  const there = lab.state.faults.map(({ name }) => findCase(name, 'mend'))
  for (const [index, it] of wanted.entries()) {
    assertOwn(servers, it.case.needs?.own ?? [], it.name)
    const before = [...there, ...wanted.slice(0, index)]
    const same = before.find(({ fault, name }) => fault.id === it.fault.id && name !== it.name)
    if (same)
      throw new AdminError(
        'REFUSED',
        `the lab cannot combine the faults ${it.name} and ${same.name}: they are variants of the same fault`,
        [command`testops-admin lab mend ${same.name}`],
      )
    const down = 'broker/alarms' in it.case.expected.problems && before.find(({ fault }) => fault.id === 'broker-down')
    if (down)
      throw new AdminError('REFUSED', `cannot create fault ${it.name}: fault ${down.name} stops RabbitMQ`, [
        command`testops-admin lab mend ${down.name}`,
      ])
    const line = it.case.needs?.broker
    const other = line && before.find(({ case: { needs } }) => needs?.broker !== undefined && needs.broker !== line)
    if (other)
      throw new AdminError(
        'REFUSED',
        `the lab cannot combine the faults ${other.name} and ${it.name}: they need different versions of RabbitMQ`,
        [command`testops-admin lab mend ${other.name}`],
      )
    if (line && line !== lab.state.currentLine && servers.rabbitmq.way === 'given')
      assertOwn(servers, ['rabbitmq'], it.name)
  }
  if (wanted.length > 0 && there.length === 0 && (await serviceStatus(lab)).state !== 'running') {
    throw new AdminError('REFUSED', 'cannot break the lab: the practice service is not running', [
      'testops-admin lab mend',
    ])
  }
}

/**
 * Returns the recorded faults with the settings that somebody, or a repair, has changed since. Making another fault
 * then keeps those settings. While a fault is unfinished, returns the record unchanged: its settings may not be written
 * yet.
 */
async function faultsAsRepaired({ layout, state: { faults } }: Lab): Promise<readonly BrokenFault[]> {
  if (faults.some(({ state }) => state === 'half')) return faults
  const written = overlayOf(faults.map(({ changes }) => changes)).environment
  const current = parseEnvironmentFile(await readFile(unitIn(layout.service).environmentFile, 'utf8'))
  const since = Object.keys(written).filter((name) => (current.get(name) ?? null) !== written[name])
  return faults.map((fault) => {
    const { environment } = fault.changes
    if (environment === undefined) return fault
    const kept = Object.entries(environment).map(
      ([name, value]) => [name, since.includes(name) ? (current.get(name) ?? null) : value] as const,
    )
    return { ...fault, changes: { ...fault.changes, environment: Object.fromEntries(kept) } }
  })
}
