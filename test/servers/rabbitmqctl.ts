import { execFile } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { CtlCommand } from '../../src/adapters/rabbitmq/ctl/program.ts'
import type { ServerRecord } from '../../src/lab/servers/index.ts'
import { controlOf } from '../../src/lab/servers/local/rabbitmq.ts'

/**
 * Returns how to run `rabbitmqctl` for that broker, as `broker.rabbitmqctl` of a configuration says it: in the broker's
 * container if it has one.
 */
export function rabbitmqctlOf({ local, container, ...record }: ServerRecord): CtlCommand {
  if (local) return controlOf({ ...record, local })
  if (!container)
    throw new Error(`RabbitMQ at ${record.host}:${record.port} was given: nothing tells how its rabbitmqctl is run`)
  const { engine, containerId } = container
  const { PATH, HOME } = process.env
  return {
    command: ['docker', 'exec', containerId, 'rabbitmqctl'],
    environment: { PATH, HOME, ...(engine !== null && { DOCKER_HOST: engine }) },
  }
}

const run = promisify(execFile)

/**
 * Returns the text that an Erlang expression gives on that broker. On this machine by `erl_call`, which asks the node
 * itself: `rabbitmqctl eval` starts an Erlang of its own, a second of processor time each.
 */
export async function evaluate(server: ServerRecord, expression: string): Promise<string> {
  const {
    command: [program = '', ...words],
    environment,
  } = rabbitmqctlOf(server)
  const env = { ...process.env, ...environment }
  if (!server.local) {
    const encoded = `base64:encode(unicode:characters_to_binary(begin ${expression} end)).`
    const { stdout } = await run(program, [...words, 'eval', encoded], { env, maxBuffer: 1e8 })
    return Buffer.from([...stdout.matchAll(/"([^"]*)"/g)].map((it) => it[1]).join(''), 'base64').toString()
  }
  const own = crypto.randomUUID()
  const file = join(server.local.home, `evaluated-${own}`)
  // a node refuses a second client of the same name, and by default all have one
  const asked = run(
    'erl_call',
    ['-h', `t${own.slice(0, 13)}`, '-address', `127.0.0.1:${server.local.nodePort}`, '-e'],
    {
      env,
    },
  )
  asked.child.stdin!.end(`file:write_file("${file}", unicode:characters_to_binary(begin ${expression} end)).\n`)
  const { stdout } = await asked
  if (stdout !== '{ok, ok}') throw new Error(`erl_call: ${stdout}`)
  try {
    return await readFile(file, 'utf8')
  } finally {
    await rm(file, { force: true })
  }
}
