// Compares `doctor --json` on a healthy lab with the same probes made one after another by a runbook of psql, redis-cli
// and curl.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inTurns, time } from './measure.js'
import { newest } from './newest.js'

const program = fileURLToPath(new URL('../bin/run.js', import.meta.url))
const runbook = fileURLToPath(new URL('runbook.sh', import.meta.url))

export async function doctor() {
  const folder = mkdtempSync(join(tmpdir(), 'testops-admin-bench-'))
  const env = { ...process.env, TESTOPS_ADMIN_LAB_DIR: join(folder, 'lab') }
  const ours = (...words) =>
    execFileSync(process.execPath, [program, ...words], { env, stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' })
  try {
    ours('lab', 'up', '--json')
    const tools = { PSQL: await newest('psql'), REDIS_CLI: await newest('redis-cli'), CURL: await newest('curl') }
    const programs = Object.fromEntries(Object.entries(tools).map(([name, { words }]) => [name, words.join(' ')]))
    const peer =
      `runbook of psql ${tools.PSQL.version}, redis-cli ${tools.REDIS_CLI.version} ` + `and curl ${tools.CURL.version}`
    const probes = { ...env, ...programs, ...addresses(JSON.parse(ours('lab', 'status', '--json')), folder) }
    const medians = await inTurns(
      {
        doctor: () => time([process.execPath, program, 'doctor', '-d', 'lab', '--json'], { env }),
        runbook: () => time(['sh', runbook], { env: probes }),
      },
      11,
    )
    return [
      { what: '`doctor --json` on a healthy lab', ours: medians.doctor, peer, theirs: medians.runbook, goal: 0.5 },
    ]
  } finally {
    ours('lab', 'down')
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the runbook's environment from the lab's files. Passwords go into files for curl, never into arguments. */
function addresses({ directory, servers, service }, folder) {
  const secret = (name) => readFileSync(join(directory, 'secrets', name), 'utf8').trim()
  const port = (kind) =>
    servers
      .find((server) => server.kind === kind)
      .address.split(':')
      .at(-1)
  const configuration = readFileSync(join(directory, 'testops-admin.yaml'), 'utf8')
  const managementUrl = /managementUrl: "?([^"\s,}]+)/.exec(configuration)[1]
  const status = JSON.parse(/^ +status: (\[.*\])$/m.exec(configuration)[1])
  const file = (name, text) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 })
    return join(folder, name)
  }
  return {
    PGHOST: '127.0.0.1',
    PGPORT: port('postgres'),
    PGUSER: 'testops',
    PGDATABASE: 'testops',
    PGPASSWORD: secret('database'),
    REDIS_HOST: '127.0.0.1',
    REDIS_PORT: port('redis'),
    REDISCLI_AUTH: secret('sessions'),
    MQ_URL: managementUrl,
    MQ_AUTH: file('broker', `user = "${brokerUser(directory)}:${secret('broker')}"\n`),
    API_URL: service.url,
    TOKEN_FORM: file(
      'token',
      `form = "grant_type=apitoken"\nform = "scope=openid"\nform = "token=${secret('api-token')}"\n`,
    ),
    SERVICE_STATUS: status.map((word) => `'${word}'`).join(' '),
    SERVICE_LOG: service.log,
    SERVICE_ENV: join(directory, 'service', 'service.env'),
    CPUINFO: join(directory, 'cpuinfo'),
  }
}

function brokerUser(directory) {
  const settings = readFileSync(join(directory, 'service', 'service.env'), 'utf8')
  return /^SPRING_RABBITMQ_USERNAME="?([^"\n]+)/m.exec(settings)[1]
}
