import { execFile } from 'node:child_process'
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { databaseFailure, psql as psqlFor } from '../../../src/adapters/postgres/errors.ts'
import { networkFailure } from '../../../src/adapters/failure.ts'
import { fileFailure, notFile } from '../../../src/adapters/read-file.ts'
import { moveFailure } from '../../../src/adapters/rabbitmq/messages/failure.ts'
import { refusal } from '../../../src/adapters/rabbitmq/refusal.ts'
import { redisCli } from '../../../src/adapters/redis/client.ts'
import {
  curl,
  curlAsUser,
  grepLog,
  psql,
  rabbitmqctl,
  settingLines,
  tokenExchange,
} from '../../../src/domain/evidence.ts'
import { grantTo, leaveOne } from '../../../src/domain/lock/row.ts'
import { inOwnWords } from '../../../src/cli/failure.ts'
import { AdminError } from '../../../src/core/error.ts'
import { listenersOn, typedOn } from '../../../src/core/host.ts'
import { suggestNearest } from '../../../src/core/nearest.ts'
import { undoCommand } from '../../../src/core/run-state.ts'
import { command, typed } from '../../../src/core/shell-command.ts'
import { onDeployment } from '../../../src/core/typed.ts'
import { fillCommand } from '../../../src/engine/remedy.ts'
import { controllersOf } from '../../../src/platforms/compose/service.ts'
import { commandsOf } from '../../../src/platforms/compose/view.ts'
import { commandsFor } from '../../../src/platforms/kubernetes/service.ts'
import { spread } from '../../support/campaign.ts'
import { hostile } from '../../support/hostile-names.ts'
import { fakeBroker } from '../../fakes/broker.ts'
import { fakeLogs } from '../../fakes/logs.ts'
import { fakeService } from '../../fakes/service.ts'

const run = promisify(execFile)

/** What is printed where every name is this one. */
function linesWith(name: string): string[] {
  const broker = fakeBroker({ target: `${name}:5672`, vhost: name })
  const peer = { what: 'it', host: name, port: 1, where: name, suggestions: [command`probe ${name}`] }
  const endpoint = {
    host: name,
    port: 1,
    vhost: name,
    user: name,
    password: null,
    tls: { mode: 'disable' as const, ca: null },
    managementUrl: `http://${name}`,
  }
  const login = { user: name, database: name, hasPassword: true }
  const code = (of: string, message = name): Error => Object.assign(new Error(message), { code: of, severity: 'ERROR' })
  const errors = [
    ...['28P01', '28000', '3D000', '42501', '53300', '53100', '55P03', '57014', '25006', '57P01'].map((it) =>
      databaseFailure(code(it, `permission denied for table "${name}"`), peer, login),
    ),
    ...['ENOTFOUND', 'EHOSTUNREACH', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED'].map(
      (it) => networkFailure(code(it), peer)!,
    ),
    ...['ENOENT', 'EACCES', 'EIO'].map((it) => fileFailure(code(it), name)),
    notFile(name),
    refusal({ code: 403, text: `configure access to queue '${name}' in vhost ` }, endpoint, name),
    refusal({ code: 406, text: name }, endpoint, name),
    moveFailure(code('ENOTFOUND'), { doing: name, blocked: null, peer, vhost: name, timeoutMs: 1 }),
    inOwnWords(new AdminError('USAGE', name, [command`--queue ${name}`]), command`testops-admin ${name}`),
  ].filter((it) => it instanceof AdminError)
  const found = { project: name, service: name, files: { name, files: [name], folder: name, environmentFiles: [name] } }
  const container = {
    name,
    image: 'x/autoheal',
    labels: {},
    environment: ['AUTOHEAL_CONTAINER_LABEL=all'],
    restartPolicy: 'always',
    state: { status: 'running' },
  }
  const workload = {
    metadata: { name, annotations: { 'meta.helm.sh/release-name': name } },
    spec: { replicas: 1, selector: { matchLabels: { [name]: name } } },
  }
  const kubectl = (...words: string[]): ReturnType<typeof typed> => typed(['kubectl', '--context', name, ...words])
  const platforms = [
    commandsOf(
      { found, engine: { program: 'docker' } } as unknown as Parameters<typeof commandsOf>[0],
      ['docker', 'compose'],
      [name],
    ),
    commandsOf(
      { found: { ...found, files: null }, engine: { program: 'docker' } } as unknown as Parameters<
        typeof commandsOf
      >[0],
      ['docker', 'compose'],
      [],
    ),
    commandsFor({ context: null, kubectl }, {
      resource: 'deployments',
      namespace: name,
      name,
      workload,
      container: { name },
    } as unknown as Parameters<typeof commandsFor>[1]),
  ]
  const deployment = {
    name,
    platform: 'host' as const,
    vendor: { prefix: 'T', package: 't' },
    timeZone: null,
    config: name,
  }
  const service = fakeService({ commands: platforms[0]!, settingsFiles: [name] })
  return [
    psql(`${name}:5432/${name}`, name, 'SELECT 1'),
    psql(name, name, 'SELECT 1'),
    psqlFor({ host: name, port: 1 }, { user: name }, name, 'SELECT 1'),
    ...leaveOne(`h:1/${name}`, name, { schema: name }),
    grantTo(`h:1/${name}`, name, { schema: name }, 'SELECT'),
    rabbitmqctl(broker, 'list_queues'),
    curl(`http://${name}`, '/x'),
    curlAsUser(`http://${name}`, '/x'),
    tokenExchange(`http://${name}`),
    redisCli({ user: name, password: null, tls: endpoint.tls }, { host: name, port: 1 }),
    grepLog(fakeLogs({ target: name }), name),
    grepLog(fakeLogs({ target: name, prints: typed(['docker', 'logs', name]) }), name),
    settingLines(service, name, name)[0]!,
    typedOn(name, listenersOn(1)),
    undoCommand({ run: name, onlyCloses: true }, onDeployment(name, name)),
    onDeployment(name, name, { flag: '--values', path: name }),
    suggestNearest(`${name}x`, [name, `${name}y`]) ?? '',
    ...controllersOf(
      [container, container] as unknown as Parameters<typeof controllersOf>[0],
      [container] as unknown as Parameters<typeof controllersOf>[1],
      'docker',
    ).flatMap(({ pause }) => pause),
    // where settings are is a sentence, which no shell reads
    ...platforms.flatMap(({ start, stop, restart, status, logs }) => [start, stop, restart, status, logs]),
    ...platforms.flatMap((commands) =>
      ['probe {deployment} -d {deployment}', '{start}', '{stop}', '{logs}', '{status}', '{restart}'].map((it) =>
        fillCommand(it, deployment, commands),
      ),
    ),
    ...errors.flatMap(({ suggestions }) => suggestions),
    ...errors.flatMap(({ suggestions }) => suggestions.map((it) => fillCommand(it, deployment, platforms[2]!))),
  ].filter((line) => line !== '')
}

let folder: string
/** Shell functions that record that they were called */
const functions: string[] = []
const programs = [
  'probe',
  'psql',
  'rabbitmqctl',
  'curl',
  'redis-cli',
  'grep',
  'tail',
  'docker',
  'kubectl',
  'openssl',
  'getent',
  'ip',
  'ls',
  'ss',
  'df',
  'helm',
  'testops-admin',
  'the',
  'did',
  'pg_isready',
]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pasted-'))
  await mkdir(join(folder, 'bin'))
  const record = (name: string): string => `printf '%s\\n' ${name} >> ${join(folder, 'calls')}`
  for (const name of programs) {
    // a program of its own for each call would take most of the time, and not every shell has functions of all names
    if (/^\w+$/.test(name)) functions.push(`${name}() { ${record(name)}; }`)
    else await writeFile(join(folder, 'bin', name), `#!/bin/sh\n${record(name)}\n`, { mode: 0o755 })
  }
  await writeFile(join(folder, 'bin', 'touch'), `#!/bin/sh\n: > ${join(folder, 'canary')}\n`, { mode: 0o755 })
})

afterAll(async () => rm(folder, { recursive: true, force: true }))

const shells: readonly [string, ...string[]][] = [
  ['/bin/sh'],
  ['/bin/bash', '--norc'],
  ['/bin/bash', '--norc', '-o', 'history', '-H'],
]

test.each(shells.map((shell, place) => [shell.join(' '), shell, place] as const))(
  'no name has an effect in what is printed, pasted into %s',
  async (_, [shell, ...words], place) => {
    const all = [...new Set(hostile.flatMap(linesWith))]
    expect(all.length).toBeGreaterThan(hostile.length * 40)
    const lines = spread(all, shells.length, place)
    for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u)
    const script = join(folder, 'script')
    await writeFile(script, [...functions, ...lines.map((line) => `(\n${line}\n) </dev/null`)].join('\n'))
    await run(shell, ['-n', script])
    await run(shell, [...words, script], {
      cwd: folder,
      env: { PATH: join(folder, 'bin'), HOME: folder },
      maxBuffer: 50_000_000,
    }).catch(() => undefined)
    await expect(access(join(folder, 'canary'))).rejects.toThrow()
    // all of it was reached
    expect(new Set((await readFile(join(folder, 'calls'), 'utf8')).split('\n'))).toContain('kubectl')
  },
  280_000,
)
