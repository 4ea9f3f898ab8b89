import { expect, test } from 'vitest'
import { preflightChecks } from '../../../src/checks/support/preflight/index.ts'
import { asDeclared, isOlder, isVersion, remarkOn } from '../../../src/checks/support/preflight/service.ts'
import type { DeclaredValues, UpgradeTarget } from '../../../src/checks/support/preflight/service.ts'
import type { CheckReport } from '../../../src/core/check.ts'
import { PartialSettings } from '../../../src/core/deployment.ts'
import { AdminError } from '../../../src/core/error.ts'
import type { LogRecord } from '../../../src/core/sources.ts'
import { parseBuild } from '../../../src/knowledge/builds.ts'
import {
  ago,
  consumer,
  fakeApi,
  fakeBroker,
  fakeDatabase,
  fakeLogs,
  fakeService,
  image,
  jobsOf,
  machine,
  migrationJob,
  openFakes,
  queue,
  record,
  settings,
  unreachable,
  v3Flags,
} from '../../fakes/index.ts'
import { run } from '../../engine/run.ts'

const hour = 3_600_000
const target = (of: Partial<UpgradeTarget> & { label?: string } = {}): UpgradeTarget => {
  const { label = '527u02' } = of
  return { label, build: parseBuild(label), broker: null, backupAt: ago(hour), freeBytes: 50e9, ...of }
}

async function judged(of: UpgradeTarget, sources: Parameters<typeof openFakes>[0] = {}): Promise<CheckReport[]> {
  const { checks } = await run(preflightChecks(of), { open: openFakes(sources) })
  return [...checks]
}

/** Status of each check that is neither ok nor skipped. */
const told = (checks: readonly CheckReport[]): Record<string, string> =>
  Object.fromEntries(
    checks
      .filter(({ status }) => status === 'problem' || status === 'unknown')
      .map(({ id, status, severity }) => [id, severity ?? status]),
  )

const old = [machine({ processors: [v3Flags.filter((flag) => flag !== 'avx2')] })]
const migration = (minutes: number): LogRecord[] => [
  record('l.lockservice : Successfully acquired change log lock', { at: ago(2 * hour) }),
  record('l.lockservice : Successfully released change log lock', { at: ago(2 * hour - minutes * 60_000) }),
]
const probe = { by: 'startup probe', afterMs: 310_000, proof: 'kubectl get deployment x -o yaml' }
const transient = fakeBroker({
  queues: [queue({ name: 'upload', durable: false })],
  consumers: [consumer({ queue: 'upload' })],
  identity: { product: 'RabbitMQ', version: '4.2.1' },
})

test.each<[string, UpgradeTarget, Parameters<typeof openFakes>[0], Record<string, string>]>([
  ['nothing', target(), {}, {}],
  [
    'a database without the table of the lock, which may be the wrong one',
    target(),
    { database: [fakeDatabase({ changelogLocks: [] })] },
    { 'database/changelog-lock': 'unknown' },
  ],
  ['no backup', target({ backupAt: null }), {}, { backup: 'unknown' }],
  ['an old backup', target({ backupAt: ago(30 * hour) }), {}, { backup: 'warning' }],
  [
    'a disk that nobody looked at',
    target({ freeBytes: null }),
    { database: [fakeDatabase({ storage: storage(20e9, null) })] },
    { 'database/disk': 'unknown' },
  ],
  [
    'less room than the database has',
    target({ freeBytes: 10e9 }),
    { database: [fakeDatabase({ storage: storage(20e9, null) })] },
    { 'database/disk': 'warning' },
  ],
  [
    'room by the operator’s figure',
    target({ freeBytes: 30e9 }),
    { database: [fakeDatabase({ storage: storage(20e9, null) })] },
    {},
  ],
  [
    'a processor that the version needs more of',
    target({ label: '527u01' }),
    { service: fakeService({ machines: old, image: image({ build: '525u01', tag: '525u01' }) }) },
    { 'service/cpu-level': 'error' },
  ],
  [
    'a processor that suffices for the legacy image',
    target(),
    { service: fakeService({ machines: old, image: image({ name: 'testops-legacy' }) }) },
    {},
  ],
  [
    'a legacy image before its time',
    target({ label: '526u04' }),
    {
      service: fakeService({
        machines: old,
        image: image({ name: 'testops-legacy', build: '526u03', tag: '526u03' }),
      }),
    },
    { 'service/image': 'error' },
  ],
  [
    'a version named after its year on an old processor',
    target({ label: '25.3.1' }),
    { service: fakeService({ machines: old }) },
    { 'service/image': 'unknown', 'service/cpu-level': 'unknown' },
  ],
  [
    'a version named after its year, on machines with all that any needs',
    target({ label: '25.3.1' }),
    {},
    { 'service/image': 'unknown' },
  ],
  ['a version named after its year that runs already', target({ label: '25.3.1', stays: true }), {}, {}],
  [
    'unknown processors',
    target(),
    { service: fakeService({ machines: [machine({ processors: [] })] }) },
    { 'service/cpu-level': 'unknown' },
  ],
  [
    'trees that are migrated',
    target({ label: '525u01' }),
    {
      service: fakeService({ image: image({ build: '524u02', tag: '524u02' }) }),
      api: fakeApi({ migrationJobs: jobsOf([migrationJob({ status: 'COMPLETED' })]) }),
    },
    {},
  ],
  [
    'trees whose migration failed',
    target({ label: '525u01' }),
    {
      service: fakeService({ image: image({ build: '524u02', tag: '524u02' }) }),
      api: fakeApi({ migrationJobs: jobsOf([migrationJob({ status: 'FAILED' })]) }),
    },
    { 'trees/migrated': 'warning' },
  ],
  [
    'trees that cannot be seen',
    target({ label: '525u01' }),
    { service: fakeService({ image: image({ build: '524u02', tag: '524u02' }) }), api: unreachable('api') },
    { 'trees/migrated': 'unknown' },
  ],
  [
    'versions that are skipped',
    target({ label: '525u01' }),
    { service: fakeService({ image: image({ build: '510u01', tag: '510u01' }) }) },
    { 'trees/migrated': 'unknown' },
  ],
  [
    'an unknown build',
    target(),
    { service: fakeService({ image: image({ build: null, tag: 'stable' }) }) },
    { 'trees/migrated': 'unknown' },
  ],
  [
    'a version before the end of the trees, where the present build is a year',
    target({ label: '511u01' }),
    { service: fakeService({ image: image({ build: '25.3.1', tag: '25.3.1' }) }) },
    { 'trees/migrated': 'unknown' },
  ],
  ['a service without its API, where no trees matter', target(), { api: unreachable('api') }, {}],
  [
    'transient queues before 4.3',
    target({ broker: '4.3.0' }),
    { broker: transient, service: fakeService({ environment: settings({ VENDOR_RABBIT_DURABLE: 'false' }) }) },
    { 'broker/upgrade': 'error' },
  ],
  [
    'a queue that RabbitMQ has named',
    target({ broker: '4.3.0' }),
    {
      broker: fakeBroker({
        queues: [queue({ name: 'amq.gen-x', vhost: 'other', durable: false })],
        identity: { product: 'RabbitMQ', version: '4.2.1' },
      }),
    },
    { 'broker/upgrade': 'error' },
  ],
  [
    'a broker that is past 4.3 already',
    target({ broker: '5.1.0' }),
    { broker: fakeBroker({ identity: { product: 'RabbitMQ', version: '5.0.2' } }) },
    {},
  ],
  [
    'queues of which nobody can tell whose they are',
    target(),
    { broker: fakeBroker({ queues: [queue({ name: 'x', durable: false })], consumers: [] }) },
    { 'broker/queues-durable': 'unknown' },
  ],
  [
    'a step over 4.2',
    target({ broker: '4.3.0' }),
    { broker: fakeBroker({ identity: { product: 'RabbitMQ', version: '3.13.7' } }) },
    { 'broker/upgrade': 'error' },
  ],
  [
    'an older broker',
    target({ broker: '4.2.0' }),
    { broker: fakeBroker({ identity: { product: 'RabbitMQ', version: '4.3.1' } }) },
    { 'broker/upgrade': 'error' },
  ],
  [
    'a broker that stays, with transient queues',
    target(),
    { broker: transient, service: fakeService({ environment: settings({ VENDOR_RABBIT_DURABLE: 'false' }) }) },
    {},
  ],
  [
    'a probe that is shorter than a migration',
    target(),
    {
      service: fakeService({ startLimit: probe }),
      logs: fakeLogs({ recent: { complete: true, records: migration(7) } }),
    },
    { probes: 'error' },
  ],
  [
    'a probe with little to spare',
    target(),
    {
      service: fakeService({ startLimit: probe }),
      logs: fakeLogs({ recent: { complete: true, records: migration(3) } }),
    },
    { probes: 'warning' },
  ],
  [
    'a probe that leaves time',
    target(),
    {
      service: fakeService({ startLimit: probe }),
      logs: fakeLogs({ recent: { complete: true, records: migration(1) } }),
    },
    {},
  ],
  ['a probe, and a log without migrations', target(), { service: fakeService({ startLimit: probe }) }, {}],
  [
    'an unreachable database',
    target(),
    { database: unreachable('database') },
    { 'database/reachable': 'error', 'database/changelog-lock': 'unknown', 'database/disk': 'unknown' },
  ],
])('%s', async (_, of, sources, expected) => {
  expect(told(await judged(of, sources))).toEqual(expected)
})

function storage(databaseBytes: number, freeBytes: number | null) {
  return { databaseBytes, dataDirectory: '/var/lib/postgresql/15', freeBytes, totalBytes: freeBytes }
}

test.each([
  ['other', /^Have the owners of upload in vhost other delete them/, 'testops-admin explain broker-does-not-boot'],
  ['/', /^Make the service's queues durable/, 'testops-admin reset-queues -d prod'],
])('only the service’s own queues are for reset-queues: those in vhost %s', async (vhost, text, command) => {
  const checks = await judged(target({ broker: '4.3.0' }), {
    broker: fakeBroker({
      queues: [queue({ name: 'upload', vhost, durable: false })],
      consumers: [consumer({ queue: 'upload', vhost })],
      identity: { product: 'RabbitMQ', version: '4.2.1' },
    }),
  })
  const { remedy } = checks.find(({ id }) => id === 'broker/upgrade')!
  expect(remedy?.text).toMatch(text)
  expect(remedy?.commands[0]).toContain(command)
})

test('what to type next keeps what was given, and names no answer that only a person knows', async () => {
  const taken = new Date('2026-11-28T02:00:00Z')
  const values = declared({ path: 'testops' })
  const next = async (of: UpgradeTarget, sources: Parameters<typeof openFakes>[0], id: string): Promise<unknown[]> => {
    const found = (await judged(of, sources)).find((it) => it.id === id)
    return [...(found?.remedy?.commands ?? []), ...(found?.error?.suggestions ?? [])].filter((it) =>
      it.startsWith('testops-admin preflight'),
    )
  }
  const untold: Parameters<typeof openFakes>[0] = { database: [fakeDatabase({ storage: storage(20e9, null) })] }
  const older = { broker: fakeBroker({ identity: { product: 'RabbitMQ', version: '3.13.7' } }) }
  expect(
    await Promise.all([
      next(target({ backupAt: null, broker: '4.1' }), {}, 'backup'),
      next(target({ backupAt: taken, freeBytes: null, values }), untold, 'database/disk'),
      next(target({ backupAt: taken, broker: '4.3.0' }), older, 'broker/upgrade'),
      next(target({ backupAt: taken, broker: '3.12.0' }), older, 'broker/upgrade'),
    ]),
  ).toEqual([
    [
      'testops-admin preflight -d prod --to 527u02 --broker 4.1 --database-free 50000000000B --backup-taken TIME   ' +
        '# TIME is when it was made: 2026-11-28T02:00Z, or 1h for an hour ago',
    ],
    [
      'testops-admin preflight -d prod --to 527u02 --backup-taken 2026-11-28T02:00:00.000Z --values /srv/values.yaml ' +
        '--path testops --database-free SIZE   # SIZE is what df shows as free, as 20GB',
    ],
    [
      'testops-admin preflight -d prod --to 527u02 --backup-taken 2026-11-28T02:00:00.000Z ' +
        '--database-free 50000000000B --broker 4.2',
    ],
    [
      'testops-admin preflight -d prod --to 527u02 --backup-taken 2026-11-28T02:00:00.000Z ' +
        '--database-free 50000000000B --broker VERSION',
    ],
  ])
})

const remedyOf = async (of: UpgradeTarget, service: ReturnType<typeof fakeService>, id: string): Promise<unknown> => {
  const { text, commands = [] } = (await judged(of, { service })).find((it) => it.id === id)?.remedy ?? {}
  return [text?.split(/(?<=\.) /), commands.map((it) => it.replace(/--backup-taken \S+ --database-free \S+/, '…'))]
}

test('a remedy names the image for the step of the upgrade, and enters no build itself', async () => {
  const legacy = fakeService({
    machines: old,
    image: image({ name: 'testops-legacy', build: '526u03', tag: '526u03' }),
  })
  const standard = fakeService({ machines: old, image: image({ build: '525u01', tag: '525u01' }) })
  expect(
    await Promise.all([
      remedyOf(target({ label: '528u01' }), standard, 'service/cpu-level'),
      remedyOf(target({ label: '526u04' }), standard, 'service/cpu-level'),
      remedyOf(target({ label: '526u04' }), legacy, 'service/image'),
      remedyOf(target({ label: '525u01' }), legacy, 'service/image'),
    ]),
  ).toMatchInlineSnapshot(`
    [
      [
        [
          "Move the service to a machine with x86-64-v3.",
          "Otherwise upgrade to image testops-legacy, as the step of the upgrade says.",
        ],
        [
          "testops-admin explain service/cpu-level   # shows the steps to take by hand",
        ],
      ],
      [
        [
          "Move the service to a machine with x86-64-v3.",
          "Otherwise name build 527u01 or later, which has image testops-legacy.",
        ],
        [
          "testops-admin preflight -d prod … --to 527u01",
          "testops-admin explain service/cpu-level   # shows the steps to take by hand",
        ],
      ],
      [
        [
          "Name build 527u01 or later.",
          "Build 526u04 has only image testops, which needs x86-64-v3.",
        ],
        [
          "testops-admin preflight -d prod … --to 527u01",
        ],
      ],
      [
        [
          "Upgrade to image testops, as the step of the upgrade says.",
        ],
        [],
      ],
    ]
  `)
})

test('processors too old for a service that stays as it is have the remedy of doctor', async () => {
  const service = fakeService({ machines: old, image: image({ build: '527u01', tag: '527u01' }) })
  const of = target({ label: '527u01', stays: true, broker: '4.3.0' })
  const found = (await judged(of, { service })).find(({ id }) => id === 'service/cpu-level')
  expect([found?.severity, found?.remedy?.text, found?.remedy?.commands]).toEqual([
    'error',
    expect.not.stringContaining('step of the upgrade') as string,
    expect.arrayContaining([expect.stringContaining('testops-legacy')]) as string[],
  ])
})

test.each([
  ['526u03', null],
  ['527u01', null],
  ['5.27', null],
  ['25.3.1', null],
  ['5.28', /^527u01 is the newest documented build, so 5\.28 is judged by what 527u01 needs\.$/],
  ['999u99', /so 999u99 is judged by/],
])('what is not known of %s', (label, remark) => {
  if (remark === null) expect(remarkOn(target({ label }))).toBeNull()
  else expect(remarkOn(target({ label }))).toMatch(remark)
  expect(remarkOn(target({ label, stays: true }))).toBeNull()
})

test.each([
  ['3.13', '4.3.6', true],
  ['4.3.5', '4.3.6', true],
  ['4.3', '4.3.6', false],
  ['4.3.6', '4.3.6', false],
  ['4.3.6', '4.3', false],
  ['4.3.6', '4.4', true],
  ['4.3.0-rc.1', '4.3.0', true],
  ['4.3.0', '4.3.0-rc.1', false],
  ['4.2.9', '4.3.0-rc.1', true],
])('RabbitMQ %s comes before %s: %s', (version, present, expected) => {
  expect(isOlder(version, present)).toBe(expected)
})

test('what shows how to back up names the database and the user', async () => {
  const [backup] = await judged(target({ backupAt: null }))
  expect(backup?.error?.suggestions[0]).toMatch(/^pg_dump -h \S+ -p \d+ -U \S+ -d testops -Fc -f testops\.dump$/)
})

test.each([
  ['527u01', true],
  ['v5.27', true],
  ['5.27.3', true],
  ['25.3.1', true],
  ['', false],
  ['latest', false],
  ['5', false],
  ['5.27; rm -rf /', false],
  ['5.27.3.1.1.1', false],
])('%s is a version: %s', (text, expected) => {
  expect(isVersion(text)).toBe(expected)
})

const declared = (of: Partial<DeclaredValues> = {}): DeclaredValues => ({
  files: ['/srv/values.yaml'],
  imageName: 'testops',
  version: { text: '527u02', file: '/srv/values.yaml', line: 3 },
  settings: new Map(),
  unfit: [],
  chart: null,
  ...of,
})

test.each<[string, DeclaredValues, Record<string, string>]>([
  ['the build that was named', declared(), {}],
  ['another build', declared({ version: { text: '526u03', file: '/srv/values.yaml', line: 3 } }), { values: 'error' }],
  ['no build', declared({ version: null }), { values: 'unknown' }],
  [
    'a tag that no registry has',
    declared({ version: { text: '527U02', file: '/srv/values.yaml', line: 3 } }),
    { values: 'error' },
  ],
  [
    'text in the place of a map',
    declared({ unfit: [{ key: 'image', needs: 'a map', file: '/srv/values.yaml', line: 2 }] }),
    { values: 'error' },
  ],
])('values with %s', async (_, values, expected) => {
  expect(told(await judged(target({ values })))).toEqual(expected)
})

test('a build in capitals is told to be a matter of case', async () => {
  const findings = async (text: string): Promise<unknown> => {
    const values = declared({ version: { text, file: '/srv/values.yaml', line: 1 } })
    const checks = await judged(target({ values }))
    return checks.find(({ id }) => id === 'values')?.findings?.map(({ message }) => message)
  }
  expect(await findings('527U02')).toEqual([
    '/srv/values.yaml line 1 sets version 527U02, not 527u02: the tags of the images are written in lower case',
  ])
  expect(await findings('526U03')).toEqual(['/srv/values.yaml line 1 sets version 526U03, not 527u02'])
})

test('a version is not entered as a tag', async () => {
  const values = declared({ version: { text: '526u03', file: '/srv/values.yaml', line: 3 } })
  const text = async (label: string): Promise<unknown> =>
    (await judged(target({ label, values }))).find(({ id }) => id === 'values')?.remedy?.text
  expect([await text('527u02'), await text('5.28')]).toEqual([
    'Set `version` to 527u02 in /srv/values.yaml.',
    'Set `version` to the tag of 5.28 in /srv/values.yaml.',
  ])
})

test('values that will change the image and a setting are judged as they will be', async () => {
  const values = declared({ imageName: 'testops-legacy', settings: new Map([['VENDOR_RABBIT_DURABLE', 'false']]) })
  const service = asDeclared(fakeService(), values)
  expect(await service.image()).toMatchObject({ name: 'testops-legacy', declaredIn: '/srv/values.yaml' })
  expect((await service.environment()).get('VENDOR_RABBIT_DURABLE')).toBe('false')
  expect(service.commands).toEqual(fakeService().commands)
  const hidden = new PartialSettings(new Map(), new AdminError('FORBIDDEN', 'secrets may not be read'))
  const partial = await asDeclared(fakeService({ environment: hidden }), values).environment()
  expect(partial).toBeInstanceOf(PartialSettings)
})
