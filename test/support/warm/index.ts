import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { isCampaign } from '../campaign.ts'

const script = fileURLToPath(new URL('program.js', import.meta.url))

export interface WarmEnd {
  /** null if a signal ended the process */
  exitCode: number | null
  stdout: string
  stderr: string
}

interface Order {
  words: readonly string[]
  directory: string
  environment: Readonly<Record<string, string | undefined>>
}

interface Kept {
  run(order: Order): Promise<WarmEnd>
  isAlive(): boolean
}

const idle: Kept[] = []

/** Variables that Node or libraries read as they start, and the one that kills or stops a command. */
const ofItsOwn = ['TESTOPS_ADMIN_FAILPOINT', 'DEBUG', 'NODE_OPTIONS']

/** For environments that a test makes itself: what vitest.config.ts gives to all Go programs */
export const ofGo = { GOGC: process.env['GOGC'] ?? '', GOMEMLIMIT: process.env['GOMEMLIMIT'] ?? '' }

/** True if a command may share a process: not in a campaign, and not if its environment needs a process of its own. */
export const mayShare = (environment: Readonly<Record<string, string | undefined>>): boolean =>
  !isCampaign && !ofItsOwn.some((name) => environment[name] !== undefined)

/**
 * Runs a command of the built program in a process that has run others before, which takes a quarter of the processor
 * time. At any time a process runs one command; two at the same moment are run by two.
 */
export async function runWarm(order: Order): Promise<WarmEnd> {
  let kept = idle.pop()
  while (kept && !kept.isAlive()) kept = idle.pop()
  kept ??= keep()
  const ended = await kept.run(order)
  if (kept.isAlive()) idle.push(kept)
  return ended
}

function keep(): Kept {
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true })
  const streams = [child.stdout!, child.stderr!] as const
  for (const stream of streams) stream.setEncoding('utf8')
  // what waits for nothing but this process may end
  const hold = (held: boolean): void => {
    // the channel is gone once the process has ended
    for (const it of [child, child.channel, ...streams] as ({ ref?(): void; unref?(): void } | null)[]) {
      if (held) it?.ref?.()
      else it?.unref?.()
    }
  }
  process.once('exit', () => child.kill('SIGKILL'))
  return {
    isAlive: () => child.exitCode === null && child.signalCode === null && child.connected,
    async run({ words, directory, environment }) {
      const mark = `\0end ${crypto.randomUUID()}\0`
      hold(true)
      const said = await Promise.all([
        new Promise<number | null>((resolve) => ended(child, resolve, { words, directory, environment, mark })),
        ...streams.map(async (stream) => untilMark(stream, mark)),
      ])
      hold(false)
      return { exitCode: said[0], stdout: said[1]!, stderr: said[2]! }
    },
  }
}

function ended(child: ChildProcess, resolve: (exitCode: number | null) => void, order: object): void {
  const onMessage = (message: unknown): void => {
    child.removeListener('close', onClose)
    resolve((message as { exitCode: number }).exitCode)
  }
  const onClose = (code: number | null): void => {
    child.removeListener('message', onMessage)
    resolve(code)
  }
  child.once('message', onMessage)
  child.once('close', onClose)
  child.send(order)
}

async function untilMark(stream: NodeJS.ReadableStream, mark: string): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const end = (): void => {
      stream.removeListener('data', onData)
      stream.removeListener('close', end)
      resolve(text)
    }
    const onData = (piece: string): void => {
      text += piece
      if (!text.endsWith(mark)) return
      text = text.slice(0, -mark.length)
      end()
    }
    stream.on('data', onData)
    stream.once('close', end)
  })
}
