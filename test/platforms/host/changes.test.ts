import { chmod, utimes } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { changesOf, clockChanges, fileChanges } from '../../../src/platforms/host/changes.ts'
import { serviceManager } from '../../../src/platforms/host/index.ts'
import type { HostSettings } from '../../../src/platforms/host/index.ts'
import { folderWith } from '../../runtime/folder.ts'

const settings: HostSettings = {
  unit: null,
  commands: null,
  logs: null,
  environmentFile: null,
  image: null,
  build: null,
  cpuinfo: null,
  declaredIn: 'testops-admin.yaml',
}

/** A machine with programs of these texts alone. */
async function machine(
  files: Record<string, string>,
): Promise<{ folder: string; environment: Record<string, string> }> {
  const folder = await folderWith(files)
  for (const name of Object.keys(files)) if (!name.includes('.')) await chmod(`${folder}/${name}`, 0o755)
  return { folder, environment: { PATH: folder } }
}

const script = (text: string): string => `#!/bin/sh\n${text}\n`
const say = (text: string): string => `/bin/cat <<'END'\n${text}\nEND`
const at = new Date('2026-11-24T02:00:00Z')

test('files, the unit, the process and the clock of a machine', async () => {
  const { folder, environment } = await machine({
    'testops.env': 'A=Hunter2secret\n',
    'more.env': 'B=1\n',
    'testops.service': '[Service]\n',
    systemctl: script(
      'case "$*" in\n' +
        `*EnvironmentFiles*) ${say('LoadState=loaded\nEnvironmentFiles=HERE/more.env (ignore_errors=no)')}\n;;\n` +
        `*show*) ${say(
          'Id=testops.service\nLoadState=loaded\nActiveState=active\nSubState=running\nMainPID=812\n' +
            'ExecMainStartTimestamp=Tue 2026-11-24 03:00:00 UTC\nNRestarts=0',
        )}\n;;\n` +
        `*cat*) ${say('# HERE/testops.service\n[Service]\n# /no/such/file')}\n;;\nesac`,
    ),
    journalctl: script(
      say(
        '{"__REALTIME_TIMESTAMP":"1795492800000000","MESSAGE":"Time has been changed"}\n' +
          'not JSON\n{"__REALTIME_TIMESTAMP":"soon"}\n[]',
      ),
    ),
  })
  const { readFile, writeFile } = await import('node:fs/promises')
  const text = await readFile(`${folder}/systemctl`, 'utf8')
  await writeFile(`${folder}/systemctl`, text.replaceAll('HERE', folder))
  for (const name of ['testops.env', 'more.env', 'testops.service']) await utimes(`${folder}/${name}`, at, at)
  const own = { ...settings, unit: 'testops', environmentFile: { path: `${folder}/testops.env`, at: 'host' } }
  const options = { timeoutMs: 5000, environment }
  const { changes, unseen } = await changesOf(own, serviceManager(own, options), options)
  expect(changes.map(({ kind, at, message }) => `${at.toISOString()} ${kind} ${message.replace(folder, '')}`)).toEqual([
    // their times were set back, as a copy sets them
    ...['testops.env', 'more.env', 'testops.service'].map((name): unknown =>
      expect.stringMatching(RegExp(`^20.* setting /${name} was replaced, or its mode was changed$`)),
    ),
    '2026-11-24T03:00:00.000Z restart testops.service was started',
    "2026-11-24T04:00:00.000Z clock this machine's clock was set",
  ])
  expect(unseen).toEqual([])
})

test.each([
  ['exited', 'ActiveState=failed\nResult=exit-code\nExecMainCode=1\nExecMainStatus=137', 'exited with 137'],
  ['was killed', 'ActiveState=failed\nResult=oom-kill\nExecMainCode=2\nExecMainStatus=9', 'ended (signal 9, oom-kill)'],
])('a process that %s', async (_, properties, told) => {
  const { environment } = await machine({
    systemctl: script(
      say(`Id=testops.service\nLoadState=loaded\n${properties}\nExecMainExitTimestamp=Tue 2026-11-24 05:00:00 UTC`),
    ),
  })
  const own = { ...settings, unit: 'testops' }
  const options = { timeoutMs: 5000, environment }
  const { changes, unseen } = await changesOf(own, serviceManager(own, options), options)
  expect(changes.map(({ at, message }) => [at.toISOString(), message])).toEqual([
    ['2026-11-24T05:00:00.000Z', `testops.service ${told}`],
  ])
  expect(unseen).toEqual([])
})

test.each([
  ['hides its journal', 'echo "No journal files were opened due to insufficient permissions." >&2; exit 1', 1],
  ['shows only own lines', 'echo "Hint: You are currently not seeing messages from other users" >&2', 1],
  ['has no journal', 'echo "No journal files were found." >&2; exit 1', 1],
  ['fails with half a line', `echo '{"__REALTIME_TIMESTAMP":"1795492800000000"}'; exit 1`, 1],
])('a machine that %s', async (_, text, count) => {
  const { environment } = await machine({ journalctl: script(text) })
  const found = await clockChanges({ timeoutMs: 5000, environment })
  expect(found.changes).toEqual([])
  expect(found.unseen).toHaveLength(count)
})

test('a machine without systemd and a configuration without anything', async () => {
  const { environment } = await machine({})
  expect(await changesOf(settings, null, { timeoutMs: 5000, environment })).toEqual({ changes: [], unseen: [] })
})

test('a manager that cannot be asked is told once for each question', async () => {
  const { environment } = await machine({ systemctl: script('echo "Access denied" >&2; exit 1') })
  const own = { ...settings, unit: 'testops' }
  const options = { timeoutMs: 5000, environment }
  const { changes, unseen } = await changesOf(own, serviceManager(own, options), options)
  expect(changes).toEqual([])
  expect([...new Set(unseen)]).toEqual(['this user may not show `testops.service`'])
})

test('a file that was written has the time of that', async () => {
  const { folder } = await machine({ 'testops.env': 'A=1\n' })
  const [found] = await fileChanges([`${folder}/testops.env`, `${folder}/missing`, folder])
  expect(found!.message).toBe(`${folder}/testops.env was changed`)
  expect(Date.now() - found!.at.getTime()).toBeLessThan(600_000)
})
