import { spawn } from 'node:child_process'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RepairDocument } from '../../src/core/repair.ts'
import type { DoctorReport } from '../../src/core/check.ts'
import type { ScanDocument } from '../../src/output/scan/document.ts'
import type { PreflightDocument } from '../../src/output/preflight.ts'
import { v3Flags } from '../fakes/index.ts'
import { faultsOf } from '../output/schemas.ts'
import { kubernetesWorld } from './kubernetes-world.ts'
import type { KubernetesWorld } from './kubernetes-world.ts'
import { freshPlace } from './program.ts'
import type { Ended, Place } from './program.ts'

let world: KubernetesWorld
let place: Place
beforeEach(async () => {
  place = await freshPlace()
  await place.write('testops-admin.yaml', 'deployments:\n  prod: {platform: kubernetes}\n')
})
afterEach(async () => {
  await world.close()
  await place.remove()
})

async function up(
  settings: Readonly<Record<string, string>> = {},
  of: { outside?: boolean; management?: boolean } = {},
): Promise<void> {
  world = await kubernetesWorld(settings, of)
  await expect.poll(world.isReady, { timeout: 20_000 }).toBe(true)
}

async function run(...words: string[]): Promise<Ended> {
  return place.run(words, { environment: { KUBECONFIG: world.kubeconfig } })
}

/** Without the breaks of lines that fit a terminal. */
function flat(text: string): string {
  return text.replace(/\s+/g, ' ')
}

test('doctor, without any address configured', async () => {
  await up()
  const ended = await run('doctor', '--json')
  const report = JSON.parse(ended.stdout) as DoctorReport
  expect(report.checks.filter(({ status }) => status === 'problem').map(({ id, findings }) => [id, findings])).toEqual(
    [],
  )
  for (const id of [
    'database/reachable',
    'broker/reachable',
    'sessions/reachable',
    'api/reachable',
    'service/running',
  ]) {
    expect([id, report.checks.find((it) => it.id === id)?.status]).toEqual([id, 'ok'])
  }
  expect(world.requests.filter((it) => /^(POST|PUT|PATCH|DELETE) /.test(it))).toEqual([])
})

test('preflight judges the values of the upgrade, and not what runs', async () => {
  await up()
  const judged = async (values: string): Promise<{ document: PreflightDocument; text: string }> => {
    const file = await place.write('values.yaml', values)
    const words = ['preflight', '--to', '527u02', '--values', file, '--backup-taken', '1h', '--database-free', '50GB']
    const { stdout } = await run(...words, '--json')
    const document = JSON.parse(stdout) as PreflightDocument
    expect(faultsOf('preflight', document)).toEqual([])
    return { document, text: flat((await run(...words)).stdout) }
  }
  const told = ({ checks }: PreflightDocument, id: string): unknown => checks.find((it) => it.id === id)?.status
  const good = await judged('version: 527u02\nimage: {imageName: testops-legacy}\n')
  expect([told(good.document, 'values'), told(good.document, 'service/image')]).toEqual(['ok', 'ok'])
  const other = await judged('version: 526u03\nenv:\n  open: {VENDOR_RABBIT_DURABLE: "false"}\n')
  expect(told(other.document, 'values')).toBe('problem')
  expect(other.document.verdict).toBe('not-ready')
  expect(other.text).toContain('sets version 526u03, not 527u02')
  const silent = await judged('image: {imageName: testops}\n')
  expect([told(silent.document, 'values'), silent.text]).toEqual([
    'unknown',
    expect.stringMatching(
      /values\.yaml does not set `version`, .* helm show values CHART \| grep -n version:/,
    ) as string,
  ])
  const unfit = await judged('version:\nimage: testops\nenv: {open: VENDOR_RABBIT_DURABLE}\n')
  expect([told(unfit.document, 'values'), unfit.text]).toEqual([
    'problem',
    expect.stringMatching(
      /2: the chart needs a map as `image` .* 3: .* a map as `env.open` .* 1: .* a single value as `version`/,
    ) as string,
  ])
  const unread: readonly (readonly [string, string])[] = [
    ['env: production\n', 'a map as `env`'],
    ['env: {open: [VENDOR_RABBIT_DURABLE=true]}\n', 'a map as `env.open`'],
    ['env: {open: {VENDOR_RABBIT_DURABLE: [true]}}\n', 'a single value as `env.open.VENDOR_RABBIT_DURABLE`'],
    ['image: [testops]\n', 'a map as `image`'],
    ['image:\n', 'a map as `image`'],
    ['image: {imageName: {a: b}}\n', 'a single value as `image.imageName`'],
    ['image: {imageName: [a]}\n', 'a single value as `image.imageName`'],
  ]
  for (const [values, needed] of unread) {
    const { document } = await judged(`version: 527u02\n${values}`)
    const { findings = [] } = document.checks.find(({ id }) => id === 'values')!
    expect([document.verdict, findings.map(({ message }) => message)]).toEqual([
      'not-ready',
      [expect.stringMatching(new RegExp(`values\\.yaml line 2: the chart needs ${needed}$`)) as string],
    ])
  }
  expect((await judged('null\n')).text).toMatch(/does not set `version`/)
  const capitals = await judged('version: 527U02\n')
  expect(capitals.text).toContain('sets version 527U02, not 527u02: the tags of the images are written in lower case')
  const refused = async (values: string): Promise<unknown> => {
    const file = await place.write('values.yaml', values)
    const { exitCode, stderr } = await run('preflight', '--to', '527u02', '--values', file)
    return [exitCode, flat(stderr)]
  }
  expect(await refused('- version\n')).toEqual([
    64,
    expect.stringContaining('is not a map of values, so Helm rejects it'),
  ])
  expect(await refused('version: 527u02\n  a: [\n')).toEqual([
    64,
    expect.stringMatching(/the values cannot be judged: .* line 2 .* bad indentation/),
  ])
  expect(await refused('testops: {version: 527u02}\n')).toEqual([
    64,
    expect.stringMatching(/preflight --to 527u02 --values \S+ --path testops/),
  ])
  const said = await Promise.all(
    [
      'apiVersion: v2\nname: testops\nversion: 5.27.2\n',
      'version: {{ .build }}\n',
      'version: ENC[AES256_GCM,data:x]\n',
      'image: {imageName: ""}\n',
    ].map(async (values, index) => {
      const file = await place.write(`other-${index}.yaml`, values)
      return flat((await run('preflight', '--to', '527U02', '--values', file)).stderr)
    }),
  )
  expect(said).toEqual([
    expect.stringMatching(/the values cannot be judged: .* is a Chart\.yaml, not chart values/),
    expect.stringMatching(/the values cannot be judged: .* line 1 cannot be read: the line is part of a template/),
    expect.stringMatching(/the values cannot be judged: .* line 1 cannot be read: SOPS has encrypted the file/),
    expect.stringMatching(/the values cannot be judged: .* takes the whole image name from image\.repository/),
  ])
  expect(said.join()).not.toMatch(/Nothing was changed|edited|if it is changed/)
  expect(world.requests.filter((it) => /^(PUT|PATCH|DELETE) /.test(it))).toEqual([])
}, 120_000)

test('a stuck lock is released while the service is scaled to zero, and it comes back', async () => {
  await up()
  const locked =
    "UPDATE databasechangeloglock SET locked = true, lockedby = 'gone-7d4b9-x2x2x (10.42.0.7)', lockgranted = " +
    "now() - interval '1 day' WHERE id = 1"
  await world.database.query(locked)
  const scaled: number[] = []
  world.cluster.hooks.scaled = (_, replicas) => void scaled.push(replicas)
  const ended = await run('unlock-changelog', '--json', '--confirm', 'prod')
  expect([ended.exitCode, ended.stderr.includes('127.0.0.1')]).toEqual([0, false])
  const document = JSON.parse(ended.stdout) as RepairDocument
  expect([document.outcome, document.plan?.target]).toEqual([
    'done',
    {
      cluster: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+, namespace testops$/) as string,
      database: expect.stringMatching(/^testops-postgresql:5432\/test_\w+, PostgreSQL /) as string,
    },
  ])
  expect(document.plan?.steps.map(({ action }) => action.kind)).toEqual([
    'stop-service',
    'release-lock',
    'start-service',
  ])
  expect(scaled).toEqual([0, 1])
  expect(await world.database.query('SELECT locked FROM databasechangeloglock WHERE id = 1')).toEqual([
    { locked: false },
  ])
  expect(ended.stdout.replaceAll(document.plan.target['cluster']!, '')).not.toContain('127.0.0.1')
  // the lease is given back, and the count of replicas forgotten
  expect(world.cluster.list('leases').map(({ spec }) => (spec as { holderIdentity: string }).holderIdentity)).toEqual([
    '',
  ])
  expect(
    world.cluster.get('deployments', 'testops', 'testops-testops').metadata.annotations?.['testops-admin/replicas'],
  ).toBe(undefined)
})

test('queues are made durable, by a setting in the pod template', async () => {
  await up({ VENDOR_RABBIT_DURABLE: 'false' })
  const before = (await world.vhost.manage('GET', `/api/queues/${world.vhost.vhost}`)) as {
    name: string
    durable: boolean
  }[]
  expect(before.some(({ durable }) => !durable)).toBe(true)
  const planned = await run('reset-queues', '--json', '--dry-run')
  expect([planned.exitCode, world.requests.filter((it) => /^(PUT|PATCH|DELETE) /.test(it))]).toEqual([0, []])
  const ended = await run('reset-queues', '--json', '--confirm', 'prod')
  const document = JSON.parse(ended.stdout) as RepairDocument
  expect([ended.exitCode, document.outcome, document.verification]).toEqual([
    0,
    'done',
    { 'broker/queues-durable': 'ok', 'service/running': 'ok', 'api/reachable': 'ok' },
  ])
  expect(document.plan?.notes).toContain(
    'VENDOR_RABBIT_DURABLE is set in the pod template only. The next helm upgrade silently reverts it, unless ' +
      'the values file sets it too: env.open: {VENDOR_RABBIT_DURABLE: "true"}',
  )
  const after = (await world.vhost.manage('GET', `/api/queues/${world.vhost.vhost}`)) as {
    name: string
    durable: boolean
  }[]
  expect(after.every(({ durable }) => durable)).toBe(true)
  expect(after.map(({ name }) => name).sort()).toEqual(before.map(({ name }) => name).sort())
})

test('a controller that is at work refuses the plan, and its risk can be accepted', async () => {
  await up()
  const found = world.cluster.get('deployments', 'testops', 'testops-testops')
  world.cluster.update(
    'deployments',
    found,
    ({ metadata }) => void (metadata.labels = { ...metadata.labels, 'argocd.argoproj.io/instance': 'testops' }),
  )
  const refused = await run('service', 'stop', '--confirm', 'prod')
  expect([refused.exitCode, flat(refused.stderr)]).toEqual([
    4,
    expect.stringContaining('Argo CD (Application `testops`) may start the service while it should stay stopped'),
  ])
  const stopped = await run('service', 'stop', '--confirm', 'prod', '--accept-risk', 'controller')
  expect(stopped.exitCode).toBe(0)
  const started = await run('service', 'start', '--confirm', 'prod')
  expect([started.exitCode, world.isReady()]).toEqual([0, true])
})

test('a port-forward that breaks in the middle stops the repair with 6 at most, and resume ends it', async () => {
  await up()
  await world.database.query(
    "UPDATE databasechangeloglock SET locked = true, lockedby = 'gone-7d4b9-x2x2x (10.42.0.7)', lockgranted = " +
      "now() - interval '1 day' WHERE id = 1",
  )
  world.cluster.hooks.scaled = (_, replicas) => {
    if (replicas === 0) world.breakForwards()
  }
  const ended = await run('unlock-changelog', '--confirm', 'prod')
  expect([ended.exitCode, flat(ended.stdout)]).toEqual([
    6,
    expect.stringContaining('this run lost its lock on the deployment (testops-postgresql:5432/'),
  ])
  delete world.cluster.hooks.scaled
  const resumed = await run('resume', '--confirm', 'prod')
  expect([resumed.exitCode, flat(resumed.stdout).includes('127.0.0.1')]).toEqual([0, false])
  expect(await world.database.query('SELECT locked FROM databasechangeloglock WHERE id = 1')).toEqual([
    { locked: false },
  ])
  await expect.poll(world.isReady, { timeout: 10_000 }).toBe(true)
})

test('a service that ends again and again is one cause, in the words of the container before', async () => {
  await up()
  world.cluster.hooks.starting = () => ({
    exitCode: 3,
    reason: 'Error',
    log: 'a line\nTerminating due to java.lang.OutOfMemoryError: Java heap space',
  })
  const isCrashing = (): boolean =>
    world.cluster.pods.some(({ status }) =>
      status.containerStatuses?.some(({ state }) => state['waiting']?.['reason'] === 'CrashLoopBackOff'),
    )
  for (const pod of world.cluster.pods)
    if (pod.metadata.name.startsWith('testops-testops-')) world.cluster.delete('pods', 'testops', pod.metadata.name)
  await expect.poll(isCrashing, { timeout: 20_000 }).toBe(true)
  const ended = await run('doctor', '--json')
  const report = JSON.parse(ended.stdout) as DoctorReport
  expect([ended.exitCode, report.rootCauses]).toEqual([1, ['service/crashes']])
  const { findings, remedy } = report.checks.find(({ id }) => id === 'service/crashes')!
  expect(findings?.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      new RegExp(
        String.raw`^testops-testops-\S+ does not stay up \(CrashLoopBackOff\), ` +
          'it exited with 3 at .*, restarted 3 times: its JVM had no memory left$',
      ),
    ),
  ])
  expect(findings?.[0]?.evidence).toContain('Terminating due to java.lang.OutOfMemoryError: Java heap space')
  expect(remedy?.commands[0]).toBe('kubectl --context test -n testops edit deployment/testops-testops')
  // nothing shows the processors of the recorded nodes
  expect(
    report.checks
      .filter(({ status, because }) => status === 'unknown' && because !== 'service/crashes')
      .map(({ id }) => id),
  ).toEqual(['service/cpu-level'])
})

test('what lies behind kubelets that the API server does not reach is unknown, and no problem', async () => {
  await up()
  for (const node of world.cluster.list('nodes')) world.cluster.hiddenNodes.add(node.metadata.name)
  const ended = await run('doctor', '--json')
  const { checks } = JSON.parse(ended.stdout) as DoctorReport
  expect([
    ended.exitCode,
    checks.filter(({ status }) => status === 'problem').map(({ id, findings }) => [id, findings]),
  ]).toEqual([3, []])
  for (const id of ['database/reachable', 'broker/reachable', 'sessions/reachable', 'api/reachable']) {
    expect([id, checks.find((it) => it.id === id)]).toMatchObject([
      id,
      {
        status: 'unknown',
        error: {
          code: 'UNREACHABLE',
          message: expect.stringMatching(
            / reports pod `\S+` as Ready, but this machine cannot connect to the pod/,
          ) as string,
        },
      },
    ])
  }
  expect(flat((await run('doctor', '--only', 'database')).stdout)).toContain(
    'testops-admin doctor -d prod --relay # connects through the cluster',
  )
})

/** Pods that were made by the program and are there still. */
const left = (): string[] =>
  world.cluster.pods.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('testops-admin-'))

test(
  'a database that this machine does not reach is unknown, ' + 'and is looked at through the cluster on request',
  async () => {
    await up({}, { outside: true })
    const without = await run('doctor', '--only', 'database', '--json')
    const reachable = (ended: Ended): DoctorReport['checks'][number] | undefined =>
      (JSON.parse(ended.stdout) as DoctorReport).checks.find(({ id }) => id === 'database/reachable')
    expect([without.exitCode, reachable(without)]).toMatchObject([
      3,
      {
        status: 'unknown',
        error: {
          code: 'UNREACHABLE',
          message: expect.stringMatching(
            new RegExp(
              String.raw`the host name db\.corp\.invalid does not resolve \(tried from this machine\)\. ` +
                'Cannot tell whether the service can reach that server$',
            ),
          ) as string,
        },
      },
    ])
    expect(flat((await run('doctor', '--only', 'database')).stdout)).toContain(
      'testops-admin doctor -d prod --relay # connects through the cluster',
    )
    const relayed = await run('doctor', '--only', 'database', '--relay', '--json')
    expect([relayed.exitCode, reachable(relayed), left()]).toMatchObject([0, { status: 'ok' }, []])
    expect(world.requests.filter((it) => /^(POST|PUT|PATCH|DELETE) /.test(it))).toEqual([])
  },
)

test(
  'a repair of a database outside goes through a pod that is there while the service is stopped, ' +
    'and gone afterwards',
  async () => {
    await up({}, { outside: true })
    await world.database.query(
      "UPDATE databasechangeloglock SET locked = true, lockedby = 'gone-7d4b9-x2x2x (10.42.0.7)', lockgranted = " +
        "now() - interval '1 day' WHERE id = 1",
    )
    const refused = await run('unlock-changelog', '--confirm', 'prod')
    expect([refused.exitCode, flat(refused.stderr)]).toEqual([69, expect.stringContaining('--relay')])
    const ended = await run('unlock-changelog', '--json', '--confirm', 'prod', '--relay')
    expect([ended.exitCode, (JSON.parse(ended.stdout) as RepairDocument).outcome, left()]).toEqual([0, 'done', []])
    expect(await world.database.query('SELECT locked FROM databasechangeloglock WHERE id = 1')).toEqual([
      { locked: false },
    ])
    expect(world.requests.filter((it) => it.startsWith('POST ') && it.endsWith('/pods'))).toHaveLength(1)
  },
)

test(
  'the processors of every node are read on request, ' + 'and a pod that was made for it is removed on Ctrl-C too',
  async () => {
    await up()
    const run = world.cluster.hooks.exec
    world.cluster.hooks.exec = ({ command }) =>
      command[0] === 'cat' ? spawn('echo', [`flags : ${v3Flags.join(' ')}`]) : null
    const proven = await place.run(['check-cpu', '--prove', '--json'], {
      environment: { KUBECONFIG: world.kubeconfig },
    })
    expect([proven.exitCode, JSON.parse(proven.stdout), left()]).toMatchObject([
      0,
      {
        machines: [
          { name: 'cpu-1', verdict: 'has-v3' },
          { name: 'gpu-1', verdict: 'has-v3' },
        ],
      },
      [],
    ])
    world.cluster.hooks.exec = ({ pod }) =>
      pod.metadata.name.startsWith('testops-admin-') ? spawn('sleep', ['600']) : null
    const interrupted = await place.run(['check-cpu', '--prove'], {
      environment: { KUBECONFIG: world.kubeconfig },
      meanwhile: (child) =>
        void expect
          .poll(() => world.cluster.programs.size, { timeout: 20_000 })
          .toBe(2)
          .finally(() => child.kill('SIGINT')),
    })
    expect([interrupted.exitCode, left()]).toEqual([6, []])
    world.cluster.hooks.exec = run!
  },
)

test('a broker without its management port is looked at by rabbitmqctl in its pod, where that may be run', async () => {
  await up({}, { management: false })
  const queues = async (): Promise<DoctorReport['checks'][number] | undefined> => {
    // each question is an Erlang of its own
    const { stdout } = await run('doctor', '--only', 'broker', '--json', '--timeout', '100')
    return (JSON.parse(stdout) as DoctorReport).checks.find(({ id }) => id === 'broker/queues-durable')
  }
  const seen = await queues()
  expect(seen, JSON.stringify(seen)).toMatchObject({ status: 'ok' })
  world.cluster.forbidden.push({ resource: 'pods/exec' })
  expect(await queues()).toMatchObject({
    status: 'unknown',
    error: {
      message: expect.stringMatching(
        new RegExp(
          String.raw`rabbitmqctl cannot be used instead: user tester has no permission to create pods\/exec ` +
            '`testops-rabbitmq[^`]*` in namespace `testops`',
        ),
      ) as string,
    },
  })
}, 240_000)

test('a right that is missing is named: its check is unknown, and no repair begins', async () => {
  await up()
  world.cluster.forbidden.push({ resource: 'pods/portforward' })
  const { checks } = JSON.parse((await run('doctor', '--json')).stdout) as DoctorReport
  const named = checks.filter(({ error }) =>
    error?.message.includes(
      'has no permission to create pods/portforward `testops-postgresql-0` in namespace `testops` of the ' +
        'cluster of context `test`',
    ),
  )
  expect(named.find(({ id }) => id === 'database/reachable')?.status).toBe('unknown')
  expect(checks.filter(({ status }) => status === 'problem')).toEqual([])

  world.cluster.forbidden.splice(0, 1, { resource: 'deployments/scale', verb: 'patch' })
  await world.database.query(
    "UPDATE databasechangeloglock SET locked = true, lockedby = 'gone-7d4b9-x2x2x (10.42.0.7)', lockgranted = " +
      "now() - interval '1 day' WHERE id = 1",
  )
  const before = world.requests.length
  const diagnosed = await run('doctor')
  expect([diagnosed.exitCode, flat(diagnosed.stdout)]).toEqual([
    3,
    expect.stringMatching(/Missing right: this user has no permission to patch deployments\/scale /) as string,
  ])
  expect(
    world.requests.slice(before).filter((it) => !/^GET /.test(it) && !/ \/apis\/authorization\.k8s\.io\//.test(it)),
  ).toEqual([])
  const dry = await run('unlock-changelog', '--dry-run')
  expect([dry.exitCode, flat(dry.stdout)]).toEqual([
    0,
    expect.stringMatching(
      /step \d would fail for a missing right: this user has no permission to patch deployments\/scale /,
    ) as string,
  ])
  const ended = await run('unlock-changelog', '--confirm', 'prod')
  expect([ended.exitCode, flat(ended.stdout)]).toEqual([
    69,
    expect.stringMatching(
      new RegExp(
        String.raw`^Failed: nothing changed\. Run \S+\. Error: ` +
          'user tester has no permission to patch deployments\\/scale `testops-testops` in namespace `testops` ' +
          'of the cluster of context `test` Try: kubectl --context test auth can-i patch ',
      ),
    ) as string,
  ])
  expect(
    world.cluster.get('deployments', 'testops', 'testops-testops').metadata.annotations?.['testops-admin/replicas'],
  ).toBe(undefined)
  expect(await world.database.query('SELECT locked FROM databasechangeloglock WHERE id = 1')).toEqual([
    { locked: true },
  ])
  expect(flat((await run('history')).stdout)).not.toContain('resume')
})

test(
  'the logs of all pods and of the runs before them are scanned; one that may not be read is told, and hides no ' +
    'other',
  async () => {
    await up()
    const [pod] = world.cluster.pods.filter(({ status }) =>
      status.containerStatuses?.some(({ name }) => name === 'testops-testops'),
    )
    const name = pod!.metadata.name
    world.cluster.print(name, 'testops-testops', 'Fatal glibc error: CPU does not support x86-64-v3', {
      previous: true,
    })
    world.cluster.update('pods', pod!, (it) => {
      for (const status of (it as typeof pod)!.status.containerStatuses ?? []) status.restartCount = 1
    })
    const scan = async (...words: string[]): Promise<{ exitCode: number | null; document: ScanDocument }> => {
      const ended = await run('scan-logs', '-d', 'prod', '--json', ...words)
      const document = JSON.parse(ended.stdout) as ScanDocument
      expect(faultsOf('scan-logs', document)).toEqual([])
      return { exitCode: ended.exitCode, document }
    }
    const whole = await scan()
    expect(whole.document.files.map((it) => it.name)).toEqual([`${name} (previous run)`, name])
    expect(
      whole.document.matches
        .filter(({ severity }) => severity === 'error')
        .map(({ signature, count, untimed, remedy }) => [signature, count, untimed, remedy]),
    ).toEqual([['cpu-level', 1, 0, 'testops-admin use-legacy-image']])
    expect(whole.exitCode).toBe(1)
    world.cluster.forbidden.push({ resource: 'pods/log' })
    const blind = await scan()
    expect([blind.exitCode, blind.document.unread.map(({ code, message }) => [code, message])]).toEqual([
      3,
      [`${name} (previous run)`, name].map(() => [
        'FORBIDDEN',
        expect.stringMatching(
          new RegExp(`^user tester has no permission to get pods/log \`${name}\` in namespace \`testops\``),
        ) as string,
      ]),
    ])
  },
)

test('logs are followed with what pods printed before, until Ctrl-C', async () => {
  await up()
  const name = world.cluster.pods.find(({ status }) =>
    status.containerStatuses?.some((it) => it.name === 'testops-testops'),
  )!.metadata.name
  let seen = ''
  const ended = await place.run(['scan-logs', '-d', 'prod', '--follow'], {
    environment: { KUBECONFIG: world.kubeconfig },
    meanwhile: (child) => {
      child.stdout?.on('data', (text: string) => {
        const before = seen
        seen += text
        if (before === '')
          world.cluster.print(
            name,
            'testops-testops',
            '2026-11-22 10:05:00.000 ERROR 1 --- [main] a.B : HTTP FAILED: x',
          )
        if (!before.includes('http-failed') && seen.includes('http-failed')) child.kill('SIGINT')
      })
    },
  })
  expect([ended.exitCode, ended.stderr]).toEqual([1, ''])
  // the service took the lock when it started
  expect(ended.stdout).toMatch(
    new RegExp(
      String.raw`^\S+ \S+Z {2}info lock-taken 1 [^]*\n2026-11-22 10:05:00Z {2}error http-failed 1 [^]*\n` +
        String.raw`1 problem: http-failed\. Exit code 1\.\n`,
    ),
  )
})
