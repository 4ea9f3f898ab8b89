import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProgramsOf } from '../types.ts'
import type { LocalKind, LocalRecord } from './kind.ts'
import { accepts, loopback } from './ports.ts'
import { signalProcess, startDetached } from './processes.ts'

export const localRedis: LocalKind = {
  plan: async (record, request) => ({
    ...record,
    user: 'default',
    password: request.redis?.password?.reveal() ?? '',
    database: '0',
  }),
  async prepare(record, request) {
    await mkdir(dataDirectory(record), { mode: 0o700 })
    const lines = [
      `bind ${loopback}`,
      `port ${record.port}`,
      `dir ${JSON.stringify(dataDirectory(record))}`,
      `databases ${request.redis?.databases ?? 16}`,
      // written data survives a kill, without waiting for the disk
      'save ""',
      'appendonly yes',
      'appendfsync no',
      ...(record.password ? [`requirepass ${JSON.stringify(record.password)}`] : []),
    ]
    await writeFile(configuration(record), `${lines.join('\n')}\n`, { mode: 0o600 })
    return record
  },
  ports: (record) => [record.port],
  launch: (record) =>
    startDetached(record.id, {
      file: programs(record).server,
      arguments: [configuration(record)],
      environment: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' },
      workingDirectory: record.local.home,
      account: null,
      log: join(record.directory, 'output.log'),
    }),
  ready: (record) => accepts(loopback, record.port),
  async askToEnd(_record, pids) {
    for (const pid of pids) signalProcess(pid, 'SIGTERM')
  },
  dataDirectory,
  tidy: async () => {},
}

function dataDirectory(record: LocalRecord): string {
  return join(record.local.home, 'data')
}

function configuration(record: LocalRecord): string {
  return join(record.local.home, 'redis.conf')
}

function programs(record: LocalRecord): ProgramsOf<'redis'> {
  if (record.local.programs.kind !== 'redis') throw new Error('not a record of Redis')
  return record.local.programs
}
