import { randomBytes } from 'node:crypto'
import { AdminError, messageOf } from '../core/error.ts'
import { prepareBroker } from './access/broker.ts'
import { prepareDatabase } from './access/database.ts'
import { holdsLab, othersIn } from './contents.ts'
import { removeLab } from './down.ts'
import { goOn, remember, serversOf } from './lab.ts'
import type { Lab, LabOptions } from './lab.ts'
import { reconcileServers } from './lab-servers.ts'
import { labLayout } from './layout.ts'
import type { LabLayout } from './layout.ts'
import { waitUntilHealthy } from './health.ts'
import { asOperator } from './operator-lock.ts'
import { forgetRepairs } from './repairs.ts'
import { assertPortFree, freePort } from './servers/local/ports.ts'
import type { RabbitmqLine } from './servers/index.ts'
import { serviceStatus, startLabService, waitUntilServing, writeDown } from './service.ts'
import { readState, writeState } from './state.ts'
import type { LabState } from './state.ts'
import { typed } from '../core/typed.ts'

export interface UpRequest {
  broker?: RabbitmqLine | undefined
  /** the service's HTTP port; a free one if left out */
  port?: number | undefined
}

export interface Up {
  /** true if the lab was up before */
  already: boolean
  /** names of the parts that were missing and have been started */
  started: readonly string[]
  /** names of the faults, which stay */
  broken: readonly string[]
}

/**
 * Starts the lab, or its missing parts, and waits until it is healthy. A first start that fails or is interrupted
 * leaves nothing behind. Throws UNAVAILABLE; REFUSED if the lab has another broker; BUSY, FAILED, INTERRUPTED.
 */
export async function bringLabUp(options: LabOptions, request: UpRequest): Promise<Up> {
  const layout = labLayout(options.root)
  return asOperator(
    layout,
    'lab up',
    async () => {
      const found = await readState(layout)
      const before = found?.phase === 'stopping' ? null : found
      if (!before && (await holdsLab(layout))) {
        options.progress('finishing an interrupted `lab down`')
        await removeLab(layout, options)
      }
      if (!before) await assertOnlyOurs(layout)
      assertSame(before, request)
      const state = before ?? (await newState(layout, request))
      try {
        return await complete({ ...options, layout, state }, state.phase === 'up')
      } catch (error) {
        // a lab that was up before stays; a new one is removed
        if (state.phase === 'up') throw error
        await removeLab(layout, { progress: options.progress }).catch((second: unknown) =>
          options.progress(
            `could not remove the unfinished lab; remove it with \`testops-admin lab down\`: ${messageOf(second)}`,
          ),
        )
        throw withoutLab(error, layout)
      }
    },
    options,
  )
}

/** Drops suggestions to inspect or mend a lab that has been removed again. */
function withoutLab(error: unknown, { root }: LabLayout): unknown {
  if (!(error instanceof AdminError)) return error
  const { code, message, suggestions } = error
  const others = suggestions.filter(
    (text) => !/^testops-admin (doctor -d lab|lab (status|mend|down))$/.test(text) && !text.includes(root),
  )
  if (others.length === suggestions.length) return error
  return new AdminError(code, message, others.length > 0 ? others : ['testops-admin lab up'], { cause: error })
}

async function complete(lab: Lab, already: boolean): Promise<Up> {
  const broken = lab.state.faults.map(({ name }) => name)
  if (already && broken.length > 0) return { already, started: [], broken }
  const started = await reconcileServers(lab)
  goOn(lab)
  const servers = await serversOf(lab)
  await prepareBroker(lab, servers)
  await prepareDatabase(lab, servers)
  await writeDown(lab)
  goOn(lab)
  if ((await serviceStatus(lab)).state !== 'running') {
    lab.progress('starting the practice service')
    await startLabService(lab)
    started.push('the practice service')
  }
  await waitUntilServing(lab)
  await remember(lab, { phase: 'up' })
  lab.progress('waiting until `doctor` finds no problem')
  await waitUntilHealthy(lab)
  return { already, started, broken }
}

/** Makes and records the state of a new lab before anything is started, so that `lab down` finds it. */
async function newState(layout: LabLayout, { broker = '4.3', port }: UpRequest): Promise<LabState> {
  if (port !== undefined) await assertPortFree(port, 'the practice service')
  await forgetRepairs(layout.root)
  const servicePort = port ?? (await freePort(layout.service))
  const state: LabState = {
    schemaVersion: 1,
    id: randomBytes(4).toString('hex'),
    phase: 'starting',
    brokerLine: broker,
    currentLine: broker,
    servicePort,
    controlPort: await freePort(layout.service),
    databasePassword: randomBytes(18).toString('base64url'),
    sessionsPassword: randomBytes(18).toString('base64url'),
    faults: [],
  }
  await writeState(layout, state)
  return state
}

/** Throws REFUSED if the folder holds other files: removing the lab could remove some of them. */
async function assertOnlyOurs(layout: LabLayout): Promise<void> {
  const others = await othersIn(layout)
  if (others.length === 0) return
  const shown = [...others.slice(0, 3), ...(others.length > 3 ? [`${others.length - 3} more`] : [])].join(', ')
  throw new AdminError('REFUSED', `cannot put a lab into ${layout.root}: the folder contains other files (${shown})`, [
    'export TESTOPS_ADMIN_LAB_DIR=…   # a new or empty folder',
  ])
}

function assertSame(state: LabState | null, { broker, port }: UpRequest): void {
  if (!state) return
  const again = typed([
    'testops-admin',
    'lab',
    'up',
    ...(broker ? ['--broker', broker] : []),
    ...(port ? ['--port', String(port)] : []),
  ])
  const other = (what: string): AdminError =>
    new AdminError('REFUSED', `the lab already exists, ${what}`, ['testops-admin lab down', again])
  if (broker !== undefined && broker !== state.brokerLine) throw other(`with broker ${state.brokerLine}`)
  if (port !== undefined && port !== state.servicePort) throw other(`on port ${state.servicePort}`)
}
