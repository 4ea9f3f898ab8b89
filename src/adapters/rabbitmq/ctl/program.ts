import { sharedAnswers } from '../../../core/answers.ts'
import type { BrokerEndpoint } from '../../../core/endpoint.ts'
import { AdminError } from '../../../core/error.ts'
import { typed } from '../../../core/typed.ts'
import { hostPort } from '../../failure.ts'
import { isRecord } from '../../http.ts'
import { endOf, runProgram } from '../../process.ts'
import type { ProgramResult } from '../../process.ts'
import type { Item } from '../management.ts'
import { command, nested } from '../../../core/shell-command.ts'
import type { ShellCommand, Suggestion } from '../../../core/shell-command.ts'

/** `rabbitmqctl` as a program with its first arguments and its environment. */
export interface CtlCommand {
  command: readonly [string, ...string[]]
  environment?: Readonly<Record<string, string | undefined>> | undefined
  /** Command as typed on this machine, if it differs from `command` */
  shown?: ShellCommand
  /** Runs it with these words if it is not a program of this machine. Throws if it cannot be run */
  run?: (words: readonly string[], options: { timeoutMs: number; maxBytes: number }) => Promise<ProgramResult>
}

/** The part of `rabbitmqctl` that is read. */
export interface Ctl {
  /**
   * Returns the items of a list. Throws UNAVAILABLE if it cannot reach the right broker, FORBIDDEN, TIMED_OUT,
   * UNEXPECTED_ANSWER
   */
  list(...words: readonly string[]): Promise<readonly Item[]>
  /** Returns the items of a list; null if this version has no such command */
  listIfAny(...words: readonly string[]): Promise<readonly Item[] | null>
  /** Returns the output of a command that shows one thing */
  show(...words: readonly string[]): Promise<Item>
}

/** each starts its own Erlang: more at a time only wait for each other */
const atOnce = 2

/**
 * Asks the node of this machine. `clusterName` is the cluster name that the broker gives over AMQP. A node of another
 * cluster is rejected with UNAVAILABLE.
 */
export function ctlProgram(
  { command: words, environment, shown = typed(words), run: elsewhere }: CtlCommand,
  endpoint: BrokerEndpoint,
  clusterName: string | null,
  timeoutMs: number,
): Ctl {
  const answers = sharedAnswers({ keep: 'nothing' })
  const waiting: (() => void)[] = []
  let running = 0
  let proof: Promise<void> | null = null
  const run = async (asked: readonly string[]): Promise<ProgramResult> => {
    // Debian's rabbitmqctl passes its words to a shell, in double quotes
    if (asked.some((word) => /[$`\\\n]/.test(word)))
      throw new AdminError(
        'UNAVAILABLE',
        `\`${shown}\` cannot be used for vhost \`${endpoint.vhost}\`: a shell may misread this name`,
      )
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    running += 1
    try {
      const all = ['-q', '--formatter', 'json', ...asked]
      const options = { timeoutMs, maxBytes: 50_000_000 }
      return await (elsewhere
        ? elsewhere(all, options)
        : runProgram([...words, ...all], { ...options, ...(environment && { environment }) }))
    } finally {
      running -= 1
      waiting.shift()?.()
    }
  }

  const asked = async (words: readonly string[]): Promise<ProgramResult> =>
    answers.to(JSON.stringify(words), async () => run(words))

  const answer = async (words: readonly string[]): Promise<unknown> => {
    const result = await asked(words)
    if (result.exitCode !== 0) throw failure(result, shown, words[0] ?? '')
    try {
      return JSON.parse(result.stdout)
    } catch (cause) {
      throw strange(shown, words, cause)
    }
  }

  const prove = async (): Promise<void> => {
    const status = await answer(['cluster_status'])
    const name = isRecord(status) ? status['cluster_name'] : null
    if (name === clusterName) return
    throw new AdminError(
      'UNAVAILABLE',
      `\`${shown}\` manages broker ${String(name)}, but the broker at ` +
        `${hostPort(endpoint.host, endpoint.port)} is ${clusterName ?? 'a different one'}`,
      [command`${nested(shown)} cluster_status`, 'set `broker.rabbitmqctl` in the configuration'],
    )
  }

  const proven = async (): Promise<void> => {
    proof ??= prove().catch((error: unknown) => {
      proof = null
      throw error
    })
    return proof
  }

  const list: Ctl['list'] = async (...words) => {
    const [value] = await Promise.all([answer(words), proven()])
    if (!Array.isArray(value)) throw strange(shown, words)
    return value.filter(isRecord)
  }

  return {
    list,
    async listIfAny(...words) {
      await proven()
      const { exitCode, stderr, stdout } = await asked(words)
      return exitCode === 64 && /not found/.test(stderr + stdout) ? null : list(...words)
    },
    async show(...words) {
      const [value] = await Promise.all([answer(words), proven()])
      if (!isRecord(value)) throw strange(shown, words)
      return value
    },
  }
}

const notAllowed = new RegExp(
  [
    '[Oo]nly root or rabbitmq',
    'cookie file (?:(?!cookie file ).)*(?:accessible|eacces)',
    'Failed to read (?:(?!Failed to read ).)*cookie',
    'permission denied',
  ].join('|'),
  'i',
)

function failure(result: ProgramResult, shown: ShellCommand, verb: string): AdminError {
  const said = `${result.stdout}${result.stderr}`
  const asSuperuser: Suggestion[] = [
    command`sudo ${nested(shown)} ${verb}`,
    'or set `broker.rabbitmqctl: [sudo, -n, rabbitmqctl]` in the configuration',
  ]
  if (notAllowed.test(said)) {
    return new AdminError('FORBIDDEN', `this user may not use \`${shown}\``, asSuperuser)
  }
  if (/Erlang distribution failed|cookie(?:(?!cookie).)*reject|rejected by the (?:remote )?node/i.test(said)) {
    return new AdminError(
      'FORBIDDEN',
      `the broker rejects \`${shown}\`: this user's Erlang cookie does not match`,
      asSuperuser,
    )
  }
  if (/unable to perform an operation on node '([^']*)'/.test(said)) {
    const node = /unable to perform an operation on node '([^']*)'/.exec(said)?.[1] ?? ''
    return new AdminError('UNAVAILABLE', `\`${shown}\` cannot reach broker ${node} on this machine`, [
      command`${nested(shown)} status`,
    ])
  }
  return new AdminError('UNEXPECTED_ANSWER', `\`${shown} ${verb}\` ${endOf(result)}`, [
    command`${nested(shown)} ${verb}`,
  ])
}

function strange(shown: ShellCommand, words: readonly string[], cause?: unknown): AdminError {
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `\`${shown} ${words[0] ?? ''}\` printed unexpected output`,
    [command`${nested(shown)} version`],
    { cause },
  )
}
