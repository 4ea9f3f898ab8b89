import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AdminError } from '../core/error.ts'
import { ownCommand } from '../core/package-parts.ts'
import { journalQueuePrefix } from '../knowledge/broker.ts'
import { recordsOfLab } from '../runtime/index.ts'
import { askManagement, onBroker } from './access/broker.ts'
import { labNames, serversOf } from './lab.ts'
import type { Lab } from './lab.ts'
import { writePrivate } from './servers/record.ts'

/**
 * Runs a repair of the lab, as an operator would, in a process that is killed (SIGKILL) at `failpoint`
 * (`core/failpoint.ts`). `stateHome`: state folder of an operator on another machine. Throws FAILED if the repair exits
 * by itself.
 */
export async function repairUntilKilled(
  { layout: { root } }: Lab,
  words: readonly string[],
  failpoint: string,
  stateHome?: string,
): Promise<void> {
  const [program, ...own] = ownCommand()
  const environment = {
    ...process.env,
    TESTOPS_ADMIN_LAB_DIR: root,
    TESTOPS_ADMIN_FAILPOINT: failpoint,
    ...(stateHome !== undefined && { XDG_STATE_HOME: stateHome }),
  }
  const child = spawn(program, [...own, ...words, '-d', 'lab', '--confirm', 'lab'], {
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
    `\`testops-admin ${words.join(' ')}\` exited before the lab could kill it at ${failpoint}: ` +
      `${said.trim().split('\n').at(-1) ?? ''}`,
  )
}

/** Saves a repair's plan, as an operator does to apply it later. Throws FAILED if the repair makes no plan. */
export async function savePlan(
  { layout: { root } }: Pick<Lab, 'layout'>,
  words: readonly string[],
  file: string,
): Promise<void> {
  const environment = { ...process.env, TESTOPS_ADMIN_LAB_DIR: root }
  const [program, ...own] = ownCommand()
  const child = spawn(program, [...own, ...words, '-d', 'lab', '--dry-run', '--json'], {
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
      `\`testops-admin ${words.join(' ')} --dry-run\` exited with ${exitCode}: ${printed.trim()}`,
    )
  await writePrivate(file, printed)
}

/** Removes all records of repairs from the lab's broker and from this machine. */
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

/** Removes records of repairs from this machine only, for a lab that was removed by `lab down` or by hand. */
export async function forgetRepairs(root: string): Promise<void> {
  for (const folder of await recordsOfLab(process.env, root)) await rm(folder, { recursive: true, force: true })
}
