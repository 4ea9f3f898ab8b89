import { expect, test } from 'vitest'
import { findUnits } from '../../../src/platforms/host/finder.ts'
import type { FinderOptions } from '../../../src/platforms/platform.ts'
import { folderWith } from '../../runtime/folder.ts'

interface Unit {
  id: string
  description?: string
  program?: string
  state?: string
  /** systemd has not loaded it, as where it is neither enabled nor started */
  isStopped?: boolean
}

/** A machine whose systemd knows these units, as `systemctl` prints them. */
async function machine(units: readonly Unit[], { exitCode = 0 } = {}): Promise<FinderOptions> {
  const shown = units.map(
    ({ id, description = id, program = '/usr/bin/other', state = 'loaded' }) =>
      `Id=${id}\nDescription=${description}\nLoadState=${state}\nExecStart={ path=${program} ; ` +
      `argv[]=${program} --x ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; ` +
      `status=0/0 }\n`,
  )
  const folder = await folderWith({
    files: units.map(({ id }) => `${id} enabled enabled\n`).join(''),
    shown: shown.join('\n'),
    loaded: units.flatMap(({ isStopped = false }, at) => (isStopped ? [] : [shown[at]!])).join('\n'),
    // `*.service` stands for what is loaded, a name for any unit
    systemctl:
      `#!/bin/sh\nhere=$(dirname "$0")\ncase "$1 $2" in list-unit-files*) cat "$here/files" ;; 'show *.service') ` +
      `cat "$here/loaded" ;; show*) cat "$here/shown" ;; esac\nexit ${exitCode}\n`,
  })
  return { timeoutMs: 5000, folder, environment: { PATH: `${folder}:/bin:/usr/bin` } }
}

const ssh = { id: 'ssh.service', program: '/usr/sbin/sshd' }
const java = '/usr/bin/java'
const found = (name: string, program = '/usr/bin/other'): object => ({
  name,
  what: `systemd unit \`${name}.service\` (${program})`,
  place: { platform: 'host', unit: name },
})

test.each<[string, Unit[], object[]]>([
  ['by its name', [ssh, { id: 'testops.service', program: java }], [found('testops', java)]],
  [
    'by its name, before others that begin so',
    [{ id: 'testops-backup.service' }, { id: 'testops.service' }],
    [found('testops')],
  ],
  [
    'by the beginning of its name',
    [ssh, { id: 'testops-report.service' }, { id: 'testops@prod.service' }],
    [found('testops-report'), found('testops@prod')],
  ],
  ['one that is stopped', [ssh, { id: 'testops.service', program: java, isStopped: true }], [found('testops', java)]],
  [
    'by its description',
    [ssh, { id: 'tms.service', description: 'TestOps (test management)', program: java }],
    [found('tms', java)],
  ],
  [
    'by its program',
    [ssh, { id: 'tms.service', program: '/opt/testops/bin/service' }],
    [found('tms', '/opt/testops/bin/service')],
  ],
  [
    'not this program itself',
    [{ id: 'testops-admin.service' }, { id: 'x.service', description: 'testops-admin every hour' }],
    [],
  ],
  ['not what starts the containers that it runs in', [{ id: 'testops.service', program: '/usr/bin/docker' }], []],
  [
    'not one that is masked or gone',
    [
      { id: 'testops.service', state: 'masked' },
      { id: 'testops-a.service', state: 'not-found' },
    ],
    [],
  ],
  ['not another of which the name is a part', [{ id: 'mytestops.service', description: 'mytestops' }], []],
])('%s', async (_, units, wanted) => {
  expect((await findUnits(await machine(units))).found).toEqual(wanted)
})

test('a machine without systemd, or on which it does not run, is said to be so', async () => {
  const folder = await folderWith({})
  expect(await findUnits({ timeoutMs: 1000, folder, environment: { PATH: folder } })).toEqual({
    found: [],
    looked: 'systemd is not installed',
  })
  expect(await findUnits(await machine([], { exitCode: 1 }))).toEqual({ found: [], looked: 'systemd is not running' })
  expect((await findUnits(await machine([ssh]))).looked).toBe(
    'no systemd unit has `testops` in its name, command or description',
  )
})

test('a machine on which systemd does not run is not searched for unit files', async () => {
  const folder = await folderWith({
    systemctl: '#!/bin/sh\ncase "$1" in list-unit-files) exec sleep 600 ;; esac\nexit 1\n',
  })
  expect(
    (await findUnits({ timeoutMs: 120_000, folder, environment: { PATH: `${folder}:/bin:/usr/bin` } })).looked,
  ).toBe('systemd is not running')
})
