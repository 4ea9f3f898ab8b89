import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AdminError } from '../core/error.ts'
import { journalQueuePrefix } from '../knowledge/broker.ts'
import { recordsOfLab } from '../runtime/index.ts'
import { askManagement, onBroker } from './access/broker.ts'
import { labNames, serversOf } from './lab.ts'
import type { Lab } from './lab.ts'
import { builtProgram } from './layout.ts'
import { writePrivate } from './servers/private-file.ts'

/**
 * Runs a repair of the lab as an operator would, in a process that is killed (SIGKILL) at that instant
 * (`core/failpoint.ts`). `stateHome`: of another machine's operator. Throws FAILED where the repair ends by itself.
 */
export async function repairUntilKilled(
  { layout: { root } }: Lab,
  words: readonly string[],
  failpoint: string,
  stateHome?: string,
): Promise<void> {
  const program = await operatorProgram()
  const environment = {
    ...process.env,
    TESTOPS_ADMIN_LAB_DIR: root,
    TESTOPS_ADMIN_FAILPOINT: failpoint,
    ...(stateHome !== undefined && { XDG_STATE_HOME: stateHome }),
  }
  const child = spawn(process.execPath, [program, ...words, '-d', 'lab', '--confirm', 'lab'], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const signal = await new Promise<NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (_, ended) => resolve(ended))
  })
  if (signal === 'SIGKILL') return
  throw new AdminError(
    'FAILED',
    `\`testops-admin ${words.join(' ')}\` was to be killed at ${failpoint}, and ended by itself: ${said.trim().split('\n').at(-1) ?? ''}`,
  )
}

/** Saves the plan of a repair, as an operator does who carries it out later. Throws FAILED where there is none. */
export async function savePlan(
  { layout: { root } }: Pick<Lab, 'layout'>,
  words: readonly string[],
  file: string,
): Promise<void> {
  const environment = { ...process.env, TESTOPS_ADMIN_LAB_DIR: root }
  const program = await operatorProgram()
  const child = spawn(process.execPath, [program, ...words, '-d', 'lab', '--dry-run', '--json'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (exitCode !== 0)
    throw new AdminError(
      'FAILED',
      `\`testops-admin ${words.join(' ')} --dry-run\` ended with ${exitCode}: ${printed.trim()}`,
    )
  await writePrivate(file, printed)
}

async function operatorProgram(): Promise<string> {
  return join(dirname(await builtProgram('main.cjs')), '..', 'bin', 'run.js')
}

/** Takes all that is on record of repairs from the lab's broker and from this machine. */
export async function forgetRuns(lab: Lab): Promise<void> {
  const servers = await serversOf(lab)
  const vhost = labNames(lab.state, servers).vhost ?? servers.rabbitmq.database
  const queues = (await askManagement(servers, `/api/queues/${encodeURIComponent(vhost)}?columns=name`)) as {
    name: string
  }[]
  await onBroker(lab, async (channel) => {
    for (const { name } of queues) if (name.startsWith(journalQueuePrefix)) await channel.deleteQueue(name)
  })
  for (const folder of await recordsOfLab(process.env, lab.layout.root))
    await rm(join(folder, 'runs'), { recursive: true, force: true })
}

/** Takes it from this machine alone: for a lab that is gone, or was taken away by other means before this one. */
export async function forgetRepairs(root: string): Promise<void> {
  for (const folder of await recordsOfLab(process.env, root)) await rm(folder, { recursive: true, force: true })
}
