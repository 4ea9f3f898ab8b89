import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { installedPrograms } from '../../../src/lab/servers/index.ts'
import type { RabbitmqLine, ServerRequest } from '../../../src/lab/servers/index.ts'
import { temporaryFolder } from './own-servers.ts'

type Files = Readonly<Record<string, string>>

const erlang: Files = { 'usr/bin/erl': 'exit 0' }

/** RabbitMQ of that version, as Debian lays it out. */
async function rabbitmqIn(root: string, version: string): Promise<void> {
  const scripts = join(root, `usr/lib/rabbitmq/lib/rabbitmq_server-${version}/sbin`)
  await put(join(scripts, 'rabbitmq-server'), 'exit 0')
  await mkdir(join(root, 'usr/lib/rabbitmq/bin'))
  await symlink(join(scripts, 'rabbitmq-server'), join(root, 'usr/lib/rabbitmq/bin/rabbitmq-server'))
}

async function put(path: string, script: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
}

/** A system on which only that is installed. */
async function systemWith(files: Files, rabbitmq: string | null): Promise<string> {
  const root = join(await temporaryFolder(), 'root')
  await mkdir(root)
  for (const [path, script] of Object.entries(files)) await put(join(root, path), script)
  if (rabbitmq !== null) await rabbitmqIn(root, rabbitmq)
  return root
}

const request = (kind: ServerRequest['kind'], line: RabbitmqLine = '3'): ServerRequest => ({
  kind,
  directory: '/',
  rabbitmq: { line },
})
const postgres = (version: string): Files => ({
  'usr/lib/postgresql/13/bin/postgres': `echo "postgres (PostgreSQL) ${version}"`,
  'usr/lib/postgresql/13/bin/initdb': 'exit 0',
})

test.each([
  ['redis', request('redis'), { 'usr/bin/redis-server': 'echo "Redis server v=7.0.15 sha=0"' }, null, '7.0.15'],
  ['postgres', request('postgres'), postgres('17.2'), null, '17.2'],
  ['rabbitmq before 4.0', request('rabbitmq', '3'), erlang, '3.10.8', '3.10.8'],
  ['rabbitmq of the line 4.3', request('rabbitmq', '4.3'), erlang, '4.3.6', '4.3.6'],
  ['rabbitmq of the line 4.0', request('rabbitmq', '4.0'), erlang, '4.2.1', '4.2.1'],
  ['rabbitmq that permits of the line 4.3', request('rabbitmq', '4.3-permitting'), erlang, '4.3.6', '4.3.6'],
])('%s that is installed is found', async (_what, wanted, files, rabbitmq, version) => {
  expect(await installedPrograms(wanted, {}, await systemWith(files, rabbitmq))).toMatchObject({
    kind: wanted.kind,
    version,
  })
})

const lab = (line: string): string =>
  `testops-admin lab down; testops-admin lab up --broker ${line}   # the lab then uses the installed RabbitMQ`

test.each<[ServerRequest, Files, string | null, string, string[]]>([
  [request('redis'), {}, null, 'redis-server is not installed', ['apt-get install redis-server']],
  [
    request('postgres'),
    {},
    null,
    'PostgreSQL is not installed',
    ['apt-get install postgresql   # the lab needs 15 or later'],
  ],
  // the package manager has no other
  [request('postgres'), postgres('13.18'), null, 'PostgreSQL 13.18 is installed, but the lab needs 15 or later', []],
  [
    request('rabbitmq'),
    {},
    null,
    'Erlang is not installed, but RabbitMQ needs it',
    ['apt-get install rabbitmq-server   # the lab needs a version before 4.0'],
  ],
  [
    request('rabbitmq', '4.3'),
    erlang,
    null,
    'RabbitMQ is not installed',
    ['apt-get install rabbitmq-server   # the lab needs 4.0 or later'],
  ],
  [
    request('rabbitmq', '4.3'),
    erlang,
    '3.10.8',
    'RabbitMQ 3.10.8 is installed, but the lab needs 4.0 or later',
    [lab('3')],
  ],
  [
    request('rabbitmq', '3'),
    erlang,
    '4.3.6',
    'RabbitMQ 4.3.6 is installed, but the lab needs a version before 4.0',
    [lab('4.3')],
  ],
  [
    request('rabbitmq', '4.0'),
    erlang,
    '4.3.6',
    'RabbitMQ 4.3.6 is installed, but the lab needs 4.0 to 4.2',
    [lab('4.3')],
  ],
  [
    request('rabbitmq', '4.3-permitting'),
    erlang,
    '4.0.5',
    'RabbitMQ 4.0.5 is installed, but the lab needs 4.3 or later',
    [lab('4.3')],
  ],
])('%j is missing, and what is suggested can help', async (wanted, files, rabbitmq, message, suggestions) => {
  const root = await systemWith(files, rabbitmq)
  await expect(installedPrograms(wanted, {}, root)).rejects.toMatchObject({ code: 'UNAVAILABLE', message, suggestions })
})
