import { writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import {
  openHost,
  restartService,
  serviceManager,
  startService,
  stopService,
} from '../../../src/platforms/host/index.ts'
import type { HostSettings } from '../../../src/platforms/host/index.ts'
import { errorOf } from '../../runtime/error-of.ts'
import { folderWith } from '../../runtime/folder.ts'
import { nothing } from './nothing.ts'

const options = { timeoutMs: 5000 }

function withStatus(script: string): HostSettings {
  return { ...nothing, commands: { start: ['true'], stop: ['true'], status: ['sh', '-c', script] } }
}

test.each([
  ['exit 0', 'running', "`sh -c 'exit 0'` exited with 0"],
  [
    'echo testops is stopped; exit 3',
    'stopped',
    "`sh -c 'echo testops is stopped; exit 3'` exited with 3: testops is stopped",
  ],
  ['exit 1', 'failed', "`sh -c 'exit 1'` exited with 1"],
  ['exit 2', 'failed', "`sh -c 'exit 2'` exited with 2"],
  ['echo ActiveState=failed; echo ExecMainStatus=127; exit 3', 'failed', 'failed, exit status 127'],
  ['echo ActiveState=inactive; exit 0', 'stopped', 'inactive'],
  [
    'echo ActiveState=active; echo MainPID=5; echo ExecMainStartTimestamp=2026-11-20T12:00:00.000Z',
    'running',
    'active, process 5, since 2026-11-20 12:00:00Z',
  ],
])('status: %s', async (script, state, detail) => {
  const status = await (await openHost(withStatus(script), options).service()).status()
  expect({ state: status.state, detail: status.detail }).toEqual({ state, detail })
})

test('an instance as the command shows it', async () => {
  const script = 'echo ActiveState=active; echo MainPID=5; echo ExecMainStartTimestamp=2026-11-20T13:00:00+01:00'
  const { instances } = await (await openHost(withStatus(script), options).service()).status()
  expect(instances).toEqual([
    { name: 'process 5', host: hostname(), pid: 5, startedAt: new Date('2026-11-20T12:00:00Z') },
  ])
})

test.each([
  [
    withStatus('echo oops >&2; exit 4'),
    "UNEXPECTED_ANSWER: `sh -c 'echo oops >&2; exit 4'` exited with 4: oops. Expected exit code: 0 or 3",
  ],
  [
    withStatus('echo ActiveState=active; exit 255'),
    "UNEXPECTED_ANSWER: `sh -c 'echo ActiveState=active; exit 255'` exited with 255: ActiveState=active. " +
      'Expected exit code: 0 or 3',
  ],
  [
    { ...nothing, commands: { start: ['true'], stop: ['true'], status: ['/no/such/program'] } } satisfies HostSettings,
    'UNAVAILABLE: /no/such/program is not installed on this machine',
  ],
])('%#: a status that says nothing', async (settings, message) => {
  expect(await errorOf(openHost(settings, options).service())).toBe(message)
})

test('a status that never ends', async () => {
  const error = await errorOf(openHost(withStatus('exec sleep 60'), { timeoutMs: 200 }).service())
  expect(error).toBe("TIMED_OUT: `sh -c 'exec sleep 60'` did not finish within 0.2 s")
})

/** A service of real processes: a sleeper that inherits the output of the script that starts it, as many do. */
async function sleeper(): Promise<HostSettings> {
  const folder = await folderWith({
    service: `#!/bin/sh
here=$(dirname "$0")
alive() {
  [ -f "$here/pid" ] && kill -0 "$(cat "$here/pid")" 2>/dev/null && ! grep -q ') Z ' "/proc/$(cat "$here/pid")/stat"
}
case "$1" in
  start) alive && exit 0; sleep 300 & echo $! >"$here/pid" ;;
  stop) alive && kill "$(cat "$here/pid")"; exit 0 ;;
  status) alive || exit 3; echo ActiveState=active; echo "MainPID=$(cat "$here/pid")" ;;
esac
`,
  })
  const program = join(folder, 'service')
  return { ...nothing, commands: { start: [program, 'start'], stop: [program, 'stop'], status: [program, 'status'] } }
}

test('a real service is started, restarted and stopped, each until it is so', async () => {
  const manager = serviceManager(await sleeper(), options)!
  try {
    const first = await startService(manager, { timeoutMs: 5000 })
    expect(first.state).toBe('running')
    expect(await startService(manager, { timeoutMs: 5000 })).toEqual(first)
    const second = await restartService(manager, { timeoutMs: 5000 })
    expect(second.instances[0]!.pid).not.toBe(first.instances[0]!.pid)
  } finally {
    expect(await stopService(manager, { timeoutMs: 5000 })).toMatchObject({ state: 'stopped', instances: [] })
  }
  expect((await stopService(manager, { timeoutMs: 5000 })).state).toBe('stopped')
})

test('a start that fails, never ends, or cannot be', async () => {
  const starting = (...start: [string, ...string[]]) =>
    serviceManager({ ...nothing, commands: { start, stop: ['true'], status: ['sh', '-c', 'exit 3'] } }, options)!
  expect(await errorOf(startService(starting('sh', '-c', 'echo no space left >&2; exit 1'), { timeoutMs: 2000 }))).toBe(
    "FAILED: `sh -c 'echo no space left >&2; exit 1'` exited with 1: no space left",
  )
  expect(await errorOf(startService(starting('sleep', '60'), { timeoutMs: 200 }))).toBe(
    'TIMED_OUT: `sleep 60` did not finish within 0.2 s',
  )
  expect(await errorOf(startService(starting('/no/such/program'), { timeoutMs: 2000 }))).toBe(
    'UNAVAILABLE: `/no/such/program` cannot be started: spawn /no/such/program ENOENT',
  )
  expect(await errorOf(startService(starting('true'), { timeoutMs: 300 }))).toBe(
    "TIMED_OUT: timed out waiting for the service to be running: `sh -c 'exit 3'` exited with 3",
  )
})

test('an interrupted start', async () => {
  const settings: HostSettings = { ...nothing, commands: { start: ['sleep', '60'], stop: ['true'], status: ['true'] } }
  const manager = serviceManager(settings, { ...options, signal: AbortSignal.timeout(100) })!
  expect(await errorOf(startService(manager, { timeoutMs: 5000 }))).toBe('INTERRUPTED: `sleep 60` was interrupted')
})

test('what is not configured is said', async () => {
  const host = openHost(nothing, options)
  const service = await host.service()
  expect(await errorOf(service.status())).toBe(
    'NOT_CONFIGURED: no start and stop commands are configured for the service: set `host.unit` or `host.commands`',
  )
  expect(await errorOf(service.environment())).toBe(
    "NOT_CONFIGURED: the service's settings are unknown: set `host.environmentFile`",
  )
  expect(await errorOf(host.log())).toBe("NOT_CONFIGURED: the service's log is unknown: set `host.logs`")
})

test('the log: configured, else the file that the settings name', async () => {
  const folder = await folderWith({ 'service.log': 'one\ntwo\n' })
  await writeFile(join(folder, 'service.env'), `LOGGING_FILE_NAME=${folder}/service.log\n`)
  const read = async (settings: Partial<HostSettings>): Promise<string> => {
    const log = await openHost({ ...nothing, ...settings }, options).log()
    return (await log.newest({ maxBytes: 4 })).text
  }
  expect(await read({ logs: { file: join(folder, 'service.log') } })).toBe('two\n')
  expect(await read({ logs: { command: ['printf', 'a\\nb\\nc\\nd\\n'] } })).toBe('d\n')
  expect(await read({ environmentFile: { path: join(folder, 'service.env'), at: 'testops-admin.yaml:4' } })).toBe(
    'two\n',
  )
})

test('a log command that hangs ends with whoever asked', async () => {
  const interrupt = new AbortController()
  const command = ['sh', '-c', 'exec sleep 43'] as const
  const log = await openHost({ ...nothing, logs: { command } }, { timeoutMs: 30_000, signal: interrupt.signal }).log()
  const reading = errorOf(log.newest({ maxBytes: 100 }))
  const since = performance.now()
  interrupt.abort()
  expect(await reading).toBe("INTERRUPTED: `sh -c 'exec sleep 43'` was interrupted")
  expect(performance.now() - since).toBeLessThan(2000)
})

test('settings that cannot be read, with the line that names them', async () => {
  const folder = await folderWith({ 'folder/x': '' })
  const read = async (name: string): Promise<unknown> => {
    const environmentFile = { path: join(folder, name), at: 'testops-admin.yaml:4' }
    const error: unknown = await openHost({ ...nothing, environmentFile }, options)
      .environment()
      .catch((thrown: unknown) => thrown)
    if (!(error instanceof AdminError)) throw error
    return [`${error.code}: ${error.message}`, ...error.suggestions].map((text) => text.replaceAll(folder, 'FOLDER'))
  }
  expect(await read('none')).toEqual([
    "UNAVAILABLE: the service's settings in FOLDER/none (`host.environmentFile` at testops-admin.yaml:4) " +
      'cannot be read: the file is missing',
    'ls -l FOLDER',
    'correct `host.environmentFile` at testops-admin.yaml:4',
  ])
  expect(await read('folder')).toEqual([
    "UNAVAILABLE: the service's settings in FOLDER/folder (`host.environmentFile` at testops-admin.yaml:4) " +
      'cannot be read: it is a folder',
    'ls -l FOLDER/folder',
    'correct `host.environmentFile` at testops-admin.yaml:4',
  ])
})
