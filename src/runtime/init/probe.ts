import { AdminError } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { SelectedDeployment } from '../configuration/select.ts'
import { openDeployment } from '../open-deployment.ts'
import type { OpenedDeployment, OpenOptions } from '../open-deployment.ts'
import type { Suggestion } from '../../core/shell-command.ts'

/** Parts that are tried, in the order in which they are reported. */
const probedParts = ['service', 'database', 'broker', 'sessions', 'api'] as const
export type ProbedPart = (typeof probedParts)[number]

/** How opening a part went. `absent`: nothing says where it is. */
export type Probe = { part: ProbedPart } & (
  | { status: 'ok'; target: string }
  | { status: 'failed' | 'absent'; error: { code: ErrorCode; message: string; suggestions: readonly Suggestion[] } }
)

/** Opens parts of a deployment at the same time, and closes them. Throws SECRET_MISSING, CONFIGURATION, INTERRUPTED. */
export async function probe(
  selected: SelectedDeployment,
  options: OpenOptions,
  parts: readonly ProbedPart[] = probedParts,
): Promise<Probe[]> {
  let opened: OpenedDeployment
  try {
    opened = await openDeployment(selected, options)
  } catch (error) {
    // it is unknown how the deployment is reached
    if (!(error instanceof AdminError) || ['SECRET_MISSING', 'INTERRUPTED'].includes(error.code)) throw error
    return parts.map((part) => ({ part, status: part === 'service' ? 'failed' : 'absent', error: shown(error) }))
  }
  try {
    return await Promise.all(parts.map(async (part) => probeOf(part, opened)))
  } finally {
    await opened.close()
  }
}

async function probeOf(part: ProbedPart, { open, deployment }: OpenedDeployment): Promise<Probe> {
  try {
    return { part, status: 'ok', target: await targetOf(part, open, deployment.platform) }
  } catch (error) {
    if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
    return { part, status: error.code === 'NOT_CONFIGURED' ? 'absent' : 'failed', error: shown(error) }
  }
}

async function targetOf(part: ProbedPart, open: OpenedDeployment['open'], platform: string): Promise<string> {
  if (part === 'service') return `${platform}: ${(await (await open.service()).status()).detail}`
  if (part === 'database') return (await open.database()).map(({ target }) => target).join(', ')
  return (await open[part]()).target
}

function shown({ code, message, suggestions }: AdminError): Extract<Probe, { status: 'failed' | 'absent' }>['error'] {
  return { code, message, suggestions }
}
