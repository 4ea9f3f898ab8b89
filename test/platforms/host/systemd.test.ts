import { readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Secret } from '../../../src/core/secret.ts'
import { openHost, serviceManager, startService, stopService } from '../../../src/platforms/host/index.ts'
import type { HostSettings } from '../../../src/platforms/host/index.ts'
import type { PlatformOptions } from '../../../src/platforms/platform.ts'
import { errorOf } from '../../runtime/error-of.ts'
import { folderWith } from '../../runtime/folder.ts'
import { nothing } from './nothing.ts'

const at = 'testops-admin.yaml:4'
const settings: HostSettings = { ...nothing, unit: 'testops' }

const running = `Id=testops.service
LoadState=loaded
ActiveState=active
SubState=running
Result=success
MainPID=812
ExecMainStartTimestamp=Fri 2026-11-20 12:00:00 UTC
ExecMainStatus=0
NRestarts=0
`

/** A machine whose systemctl answers `show` with this text, and keeps what it was asked. */
async function machine(
  show: string,
  { stderr = '', exitCode = 0 } = {},
): Promise<{ folder: string; options: PlatformOptions }> {
  const folder = await folderWith({
    show,
    stderr,
    systemctl:
      `#!/bin/sh\nhere=$(dirname "$0")\necho "TZ=$TZ $*" >>"$here/asked"\ncat "$here/stderr" >&2\ncase "$*" in ` +
      `*show*) cat "$here/show" ;; esac\nexit ${exitCode}\n`,
  })
  return {
    folder,
    options: { timeoutMs: 5000, environment: { ...process.env, PATH: `${folder}:${process.env.PATH}` } },
  }
}

test.each([
  [running, { state: 'running', detail: 'active (running), process 812, since 2026-11-20 12:00:00Z', pid: 812 }],
  [
    'Id=testops.service\nLoadState=loaded\nActiveState=inactive\nSubState=dead\nResult=success\nMainPID=0\n' +
      'ExecMainStartTimestamp=\n',
    { state: 'stopped', detail: 'inactive (dead)', pid: null },
  ],
  [
    'LoadState=loaded\nActiveState=failed\nSubState=failed\nResult=exit-code\nMainPID=0\n' +
      'ExecMainStatus=127\nNRestarts=5\n',
    { state: 'failed', detail: 'failed (failed), result exit-code, exit status 127, restarted 5 times', pid: null },
  ],
  [
    'LoadState=loaded\nActiveState=activating\nSubState=auto-restart\nResult=exit-code\nMainPID=0\n' +
      'ExecMainStatus=1\nNRestarts=2\n',
    {
      state: 'failed',
      detail: 'activating (auto-restart), result exit-code, exit status 1, restarted 2 times',
      pid: null,
      startsAgain: true,
    },
  ],
  [
    'LoadState=loaded\nActiveState=deactivating\nSubState=stop-sigterm\nResult=success\nMainPID=7\n' +
      'ExecMainStartTimestamp=n/a\n',
    { state: 'running', detail: 'deactivating (stop-sigterm), process 7', pid: 7 },
  ],
])(
  'status of %j',
  async (show, {
    state,
    detail,
    pid,
    startsAgain,
  }: { state: string; detail: string; pid: number | null; startsAgain?: boolean }) => {
    const { options } = await machine(show)
    const status = await (await openHost(settings, options).service()).status()
    expect({ state: status.state, detail: status.detail, startsAgain: status.startsAgain }).toEqual({
      state,
      detail,
      startsAgain,
    })
    expect(status.instances.map((it) => [it.pid, it.host])).toEqual(pid === null ? [] : [[pid, hostname()]])
  },
)

test.each([
  [
    'LoadState=not-found\nActiveState=inactive\n',
    {},
    'UNAVAILABLE: this machine has no systemd unit `testops.service`',
  ],
  [
    '',
    {
      exitCode: 1,
      stderr:
        "System has not been booted with systemd as init system (PID 1). Can't operate.\nFailed to connect to " +
        'bus: Host is down\n',
    },
    'UNAVAILABLE: cannot show `testops.service`: systemd is not running on this machine',
  ],
  ['', {}, 'UNEXPECTED_ANSWER: systemctl shows no state of `testops.service`'],
])('%j with %j', async (show, how, message) => {
  const { options } = await machine(show, how)
  expect(await errorOf(openHost(settings, options).service())).toBe(message)
})

test('the systemctl of a machine that systemd does not run', async () => {
  const error = await errorOf(openHost({ ...settings, unit: 'no-such-unit-of-ours' }, { timeoutMs: 5000 }).service())
  expect(error).toMatch(
    new RegExp(
      '^UNAVAILABLE: (cannot show `no-such-unit-of-ours\\.service`: ' +
        'systemd is not running on this machine|this machine has no systemd unit|systemctl is not installed)',
    ),
  )
})

test("the unit's variables, then its files in their order", async () => {
  const { folder, options } = await machine('')
  const files = await folderWith({
    'a.env': 'A=file\nB=a\n',
    'b.env': 'B=b\nSPRING_DATASOURCE_PASSWORD=hunter2\nSPRING_RABBITMQ_ADDRESSES=amqp://u:p@mq\n',
  })
  const show = [
    'LoadState=loaded',
    'Environment=A=unit "C=two \\"words\\"" "D=/opt"',
    `EnvironmentFiles=${files}/a.env (ignore_errors=no)`,
    `EnvironmentFiles=${files}/none.env (ignore_errors=yes)`,
    `EnvironmentFiles=${files}/b.env (ignore_errors=no)`,
  ].join('\n')
  await writeFile(join(folder, 'show'), show)
  const environment = await openHost(settings, options).environment()
  expect(
    [...environment].map(([name, value]) => [name, value instanceof Secret ? `secret ${value.reveal()}` : value]),
  ).toEqual([
    ['A', 'file'],
    ['C', 'two "words"'],
    ['D', '/opt'],
    ['B', 'b'],
    ['SPRING_DATASOURCE_PASSWORD', 'secret hunter2'],
    ['SPRING_RABBITMQ_ADDRESSES', 'secret amqp://u:p@mq'],
  ])
  const named = await openHost(
    { ...settings, environmentFile: { path: join(files, 'a.env'), at } },
    options,
  ).environment()
  expect(Object.fromEntries(named)).toEqual({ A: 'file', B: 'a', C: 'two "words"', D: '/opt' })
})

test('the files that a pattern stands for, in the order of their names', async () => {
  const { folder, options } = await machine('')
  const files = await folderWith({
    'env.d/b+1.env': 'A=2\n',
    'env.d/a.env': 'A=1\nB=1\n',
    'env.d/.hidden.env': 'C=1\n',
    'env.d/a.bak': 'C=1\n',
    'x1/own': 'D=1\n',
    'x2/other': 'E=1\n',
  })
  const shown = async (...lines: string[]): Promise<Record<string, unknown>> => {
    await writeFile(
      join(folder, 'show'),
      ['LoadState=loaded', ...lines.map((it) => `EnvironmentFiles=${files}/${it}`)].join('\n'),
    )
    return Object.fromEntries(await openHost(settings, options).environment())
  }
  expect(
    await shown('env.d/*.env (ignore_errors=no)', 'x[!3]/own (ignore_errors=yes)', '?.none (ignore_errors=yes)'),
  ).toEqual({ A: '2', B: '1', D: '1' })
  expect(await errorOf(shown('env.d/[ab].none (ignore_errors=no)'))).toMatch(
    /^UNAVAILABLE: the service's settings in .*\/env\.d\/\[ab\]\.none cannot be read: the file is missing$/,
  )
})

test('the log is the journal, in bare messages', async () => {
  const { options } = await machine(running)
  const log = await openHost(settings, options).log()
  expect(log.target).toBe('journalctl -u testops.service -o cat --no-pager -q -n 50000')
  // no journal knows the unit of this test: that nothing is shown is not taken for a log without faults
  expect(await errorOf(log.newest({ maxBytes: 1000 }))).toMatch(/^(UNAVAILABLE|UNEXPECTED_ANSWER): /)
  expect(await errorOf(log.parts({}))).toMatch(/^(UNAVAILABLE|UNEXPECTED_ANSWER): /)
})

test('starting and stopping', async () => {
  const { folder, options } = await machine(running.replace('812', '999999999'))
  const manager = serviceManager(settings, options)!
  expect((await startService(manager, { timeoutMs: 2000 })).state).toBe('running')
  expect(await errorOf(stopService(manager, { timeoutMs: 400 }))).toBe(
    'TIMED_OUT: timed out waiting for the service to be stopped: active (running), process 999999999, since ' +
      '2026-11-20 12:00:00Z',
  )
  const asked = await readFile(join(folder, 'asked'), 'utf8')
  expect(asked.split('\n').filter((line) => !line.includes(' show '))).toEqual([
    'TZ=UTC --no-ask-password start testops.service',
    'TZ=UTC --no-ask-password stop testops.service',
    '',
  ])
})

test.each([
  [
    'Failed to start testops.service: Access denied\nSee system logs',
    'FORBIDDEN: this user may not start `testops.service`',
  ],
  [
    'Failed to start testops.service: Interactive authentication required.',
    'FORBIDDEN: this user may not start `testops.service`',
  ],
  [
    'Failed to start testops.service: Unit testops.service not found.',
    'UNAVAILABLE: this machine has no systemd unit `testops.service`',
  ],
  [
    'Job for testops.service failed because the control process exited with error code.',
    'FAILED: `systemctl start testops` exited with 1: Job for testops.service failed because the control ' +
      'process exited with error code.',
  ],
])('start: %s', async (stderr, message) => {
  const { options } = await machine('', { stderr: `${stderr}\n`, exitCode: 1 })
  expect(await errorOf(startService(serviceManager(settings, options)!, { timeoutMs: 2000 }))).toBe(message)
})

test('what the operator types', () => {
  const { commands } = openHost(
    { ...settings, environmentFile: { path: '/etc/testops/testops.env', at } },
    { timeoutMs: 1 },
  )
  expect(Object.values<string>({ ...commands }).map((command) => command.replace(/^sudo /, ''))).toEqual([
    'systemctl start testops',
    'systemctl stop testops',
    'systemctl restart testops',
    'systemctl status testops',
    'journalctl -u testops -n 200 --no-pager',
    'ps -fC java',
    '${EDITOR:-vi} /etc/testops/testops.env',
    '/etc/testops/testops.env',
  ])
})
