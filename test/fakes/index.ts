import { AdminError } from '../../src/core/error.ts'
import type { SourceName, Sources } from '../../src/core/sources.ts'
import { fakeAccessLog } from './access-log.ts'
import { fakeApi } from './api.ts'
import { fakeBroker } from './broker.ts'
import { fakeDatabase } from './database.ts'
import { fakeFiles } from './files.ts'
import { fakeLogs } from './logs.ts'
import { fakeNetwork } from './network.ts'
import { releaseWorld } from './release.ts'
import { fakeRuns } from './runs.ts'
import { fakeService } from './service.ts'
import { fakeSessions } from './sessions.ts'

export * from './api-control.ts'
export * from './access-log.ts'
export * from './api.ts'
export * from './broker-world.ts'
export * from './broker.ts'
export * from './controls.ts'
export * from './database.ts'
export * from './fake.ts'
export * from './files.ts'
export * from './logs.ts'
export * from './network.ts'
export * from './release.ts'
export * from './run-store.ts'
export * from './runs.ts'
export * from './service.ts'
export * from './session-store.ts'
export * from './sessions.ts'

/** A healthy deployment, with the given sources in place of its own. */
function fakeSources(sources: Partial<Sources> = {}): Sources {
  return {
    database: [fakeDatabase()],
    broker: fakeBroker(),
    sessions: fakeSessions(),
    service: fakeService(),
    api: fakeApi(),
    logs: fakeLogs(),
    accessLog: fakeAccessLog(),
    network: fakeNetwork(),
    runs: fakeRuns(),
    files: fakeFiles(),
    release: releaseWorld().source,
    ...sources,
  }
}

const errors: Record<SourceName, () => AdminError> = {
  database: () =>
    new AdminError('UNREACHABLE', 'PostgreSQL at db.example.org:5432 refused the connection', [
      'pg_isready -h db.example.org -p 5432',
    ]),
  broker: () =>
    new AdminError('UNREACHABLE', 'RabbitMQ at mq.example.org:5672 refused the connection', [
      'curl -sv --max-time 3 telnet://mq.example.org:5672 </dev/null',
    ]),
  sessions: () =>
    new AdminError('UNREACHABLE', 'Redis at redis.example.org:6379 refused the connection', [
      'redis-cli -h redis.example.org -p 6379 ping',
    ]),
  service: () => new AdminError('UNAVAILABLE', 'systemctl is not installed on this machine', ['command -v systemctl']),
  api: () =>
    new AdminError('UNREACHABLE', 'https://testops.example.org refused the connection', [
      'curl -i https://testops.example.org/api/management/health',
    ]),
  logs: () => new AdminError('UNAVAILABLE', '/var/log/testops/testops.log does not exist', []),
  accessLog: () =>
    new AdminError('UNAVAILABLE', 'the log file /var/log/nginx/access.log does not exist', [
      'ls -l /var/log/nginx/access.log',
    ]),
  network: () => new AdminError('UNAVAILABLE', 'no name server answers', []),
  runs: () =>
    new AdminError('UNEXPECTED_ANSWER', 'the journal of run 20261121T021244Z-unlock-changelog-1f3a cannot be read', []),
  release: () => new AdminError('UNAVAILABLE', 'helm is not installed on this machine', ['command -v helm']),
  files: () => new AdminError('USAGE', 'the file /srv/values.yaml is missing', ['ls -l /srv/values.yaml']),
}

/** Returns the error from opening that source when it cannot be reached. */
export function unreachable(source: SourceName): AdminError {
  return errors[source]()
}

export type Openers = { [K in SourceName]: () => Promise<Sources[K]> }

/** Returns what opens each source for the runner: healthy, as given, or failing with the given error. */
export function openFakes(sources: { [K in SourceName]?: Sources[K] | AdminError } = {}): Openers {
  const opener =
    <K extends SourceName>(name: K, healthy: Sources[K]) =>
    async (): Promise<Sources[K]> => {
      const given: Sources[K] | AdminError = (sources[name] as Sources[K] | AdminError | undefined) ?? healthy
      if (given instanceof AdminError) throw given
      return given
    }
  const healthy = fakeSources()
  return {
    database: opener('database', healthy.database),
    broker: opener('broker', healthy.broker),
    sessions: opener('sessions', healthy.sessions),
    service: opener('service', healthy.service),
    api: opener('api', healthy.api),
    logs: opener('logs', healthy.logs),
    accessLog: opener('accessLog', healthy.accessLog),
    network: opener('network', healthy.network),
    runs: opener('runs', healthy.runs),
    files: opener('files', healthy.files),
    release: opener('release', healthy.release),
  }
}
