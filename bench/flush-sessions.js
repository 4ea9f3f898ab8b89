// Compares `flush-sessions` of a million session hashes with `redis-cli --scan | xargs redis-cli UNLINK`, on a Redis of
// its own.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { inTurns, time } from './measure.js'
import { newest } from './newest.js'

const program = fileURLToPath(new URL('../bin/run.js', import.meta.url))
const sessions = Number(process.env.BENCH_SESSIONS ?? 1_000_000)

export async function flushSessions() {
  const folder = mkdtempSync(join(tmpdir(), 'testops-admin-bench-'))
  const port = await freePort()
  const server = spawn(
    'redis-server',
    ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', '', '--appendonly', 'no'],
    { stdio: 'ignore' },
  )
  const client = new Redis({ port, host: '127.0.0.1', retryStrategy: () => 50, maxRetriesPerRequest: null })
  try {
    const host = { commands: { start: ['true'], stop: ['true'], status: ['true'] } }
    const config = join(folder, 'testops-admin.yaml')
    // JSON is valid YAML
    writeFileSync(
      config,
      JSON.stringify({
        current: 'bench',
        deployments: { bench: { platform: 'host', host, sessions: { url: `redis://127.0.0.1:${port}/0` } } },
      }),
    )
    const env = { ...process.env, XDG_STATE_HOME: join(folder, 'state') }
    const ours = [process.execPath, program, 'flush-sessions', '--config', config, '--confirm', 'bench', '--json']
    const { words, version } = await newest('redis-cli')
    const cli = `${words.join(' ')} -p ${port}`
    const theirs = `${cli} --scan --pattern 'spring:session:sessions:*' | xargs ${cli} UNLINK`
    const peer = `\`redis-cli --scan | xargs redis-cli UNLINK\`, redis-cli ${version}`
    const medians = await inTurns(
      {
        flush: () => filled(client, () => time(ours, { env })),
        xargs: () => filled(client, () => time(['sh', '-c', theirs])),
      },
      3,
    )
    console.log(
      `load ${loadavg()
        .map((load) => load.toFixed(1))
        .join(' ')}`,
    )
    return [
      {
        what: `\`flush-sessions\` of ${sessions.toLocaleString('en')} sessions`,
        ours: medians.flush,
        peer,
        theirs: medians.xargs,
        goal: 0.7,
      },
    ]
  } finally {
    client.disconnect()
    server.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs on a full store. Throws if the store is not empty afterwards. */
async function filled(client, run) {
  await fill(client)
  const took = await run()
  const left = await client.dbsize()
  if (left > 0) throw new Error(`${left} keys were left`)
  return took
}

/** Writes sessions as Spring does: three numbers as Java serialises them, and a security context (FIELD-NOTES.md 4). */
async function fill(client) {
  const now = Date.now()
  const fields = {
    creationTime: long(now),
    lastAccessedTime: long(now),
    maxInactiveInterval: long(1800),
    'sessionAttr:SPRING_SECURITY_CONTEXT': Buffer.alloc(200, 'x'),
  }
  for (let at = 0; at < sessions; at += 5000) {
    const pipeline = client.pipeline()
    for (let of = at; of < Math.min(sessions, at + 5000); of += 1)
      pipeline.hset(`spring:session:sessions:${randomUUID()}`, fields)
    await pipeline.exec()
  }
}

function long(value) {
  const number = Buffer.alloc(8)
  number.writeBigInt64BE(BigInt(value))
  const head =
    'aced00057372000e6a6176612e6c616e672e4c6f6e673b8be490cc8f23df0200014a000576616c7565' +
    '787200106a6176612e6c616e672e4e756d62657286ac951d0b94e08b0200007870'
  return Buffer.concat([Buffer.from(head, 'hex'), number])
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
