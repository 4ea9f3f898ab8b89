import { AdminError } from '../core/error.ts'
import type { Machine } from '../core/sources.ts'
import { architectureIn, isCutShort, parseCpuinfo } from '../knowledge/processors.ts'
import { openPlatform, readMachine } from '../platforms/index.ts'
import type { Proof } from '../platforms/index.ts'
import { findConfiguration } from './configuration/load.ts'
import { findDeployment, selectDiscovered } from './configuration/select.ts'
import type { DeploymentRequest, SelectedDeployment } from './configuration/select.ts'
import { discover } from './discover.ts'
import { platformSettingsOf } from './configuration/platform-of.ts'

export interface MachinesRequest extends DeploymentRequest {
  timeoutMs: number
  signal: AbortSignal
  /** Reads processors where they run if only labels describe them, and may create pods for that */
  prove?: Omit<Proof, 'signal'>
}

/**
 * Returns the machines that a deployment's service runs on or could be started on; this machine if none is configured,
 * found or named. Needs none of the deployment's secrets. Throws as `findDeployment` and the platform do.
 */
export async function machinesOf({ timeoutMs, prove, ...request }: MachinesRequest): Promise<readonly Machine[]> {
  const selected = await selectedOrNone(request)
  if (selected === null) return [await thisMachine()]
  const options = { timeoutMs, environment: request.environment, signal: request.signal }
  const platform = await openPlatform(platformSettingsOf(selected), options)
  try {
    const machines = await (await platform.service()).machines()
    return (prove && (await platform.prove?.(machines, { ...prove, signal: request.signal }))) ?? machines
  } finally {
    await platform.close()
  }
}

async function selectedOrNone(request: DeploymentRequest): Promise<SelectedDeployment | null> {
  if (request.name !== undefined || (await findConfiguration(request)) !== null) return findDeployment(request)
  const discovery = await discover(request)
  return discovery.found.length === 0 ? null : selectDiscovered(discovery, request)
}

export async function thisMachine(): Promise<Machine> {
  return readMachine(null)
}

/** Returns the machine that a cpuinfo file describes. Throws USAGE if the text is not such a file. */
export function machineIn(text: string, name: string): Machine {
  const architecture = architectureIn(text)
  const isCut = isCutShort(text)
  if (architecture === null && !isCut) {
    throw new AdminError('USAGE', `${name} is not a cpuinfo file: it shows no processor`, [
      'cat /proc/cpuinfo   # run this on the machine that you want to check, and copy the whole output',
    ])
  }
  return {
    name,
    architecture,
    processors: parseCpuinfo(text),
    hypervisor: null,
    ...(isCut && { unproven: 'the file is incomplete: it does not show the flags of every processor' }),
  }
}
