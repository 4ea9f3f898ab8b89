import { spawn } from 'node:child_process'
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { load, loadAll } from 'js-yaml'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { templates } from '../../src/cli/init/template.ts'
import { typedWords } from '../../src/core/typed.ts'
import type { TemplateDocument } from '../../src/output/init.ts'
import { faultsOf } from '../output/schemas.ts'
import { freshPlace, program } from './program.ts'
import type { Ended, Place } from './program.ts'

const configuration = `deployments:
  prod:
    platform: kubernetes
    kubernetes: {context: prod, namespace: testops, values: values.yaml}
    url: https://testops.example.org
    apiToken: {env: TESTOPS_TOKEN}
    database:
      - {url: "postgresql://t@db.example.org/t", password: {file: /run/secrets/db}}
      - {url: "postgresql://t@db.example.org/u", password: {command: [pass, show, db]}}
    broker:
      {url: "amqp://t@mq.example.org", rabbitmqctl: [sudo, rabbitmqctl], password: {kubernetesSecret: mq/password}}
    sessions: {sentinel: {master: m, nodes: [s.example.org], password: {kubernetesSecret: other/redis/word}}}
    accessLog: {file: access.log}
  box:
    platform: host
    host: {commands: {start: [bin/start], stop: [stop], status: [status]}, environmentFile: testops.env}
    apiToken: {command: [pass, show, token]}
    broker: {url: "amqp://t@mq.example.org", rabbitmqctl: [sudo, rabbitmqctl], password: {env: MQ}}
  nowhere: {platform: kubernetes}
  clear:
    platform: host
    host: {commands: {start: [start, "--password=hunter2secret"], stop: [stop], status: [status]}}
`

let place: Place
beforeEach(async () => {
  place = await freshPlace()
  await place.write('testops-admin.yaml', configuration)
})
afterEach(async () => place.remove())

const render = async (...words: string[]): Promise<Ended> => place.run(['init', '--template', ...words])
const renderWith = async (environment: Record<string, string>, ...words: string[]): Promise<Ended> =>
  place.run(['init', '--template', ...words], { environment })
const filesIn = async (folder: string): Promise<string[]> =>
  readdir(join(place.directory, folder)).catch(() => ['no folder'])

test('a pod gets every secret from a Secret, and its configuration names the variables', async () => {
  const { stdout } = await render('cronjob', '-d', 'prod', '--secret', 'mine')
  const objects = loadAll(stdout) as Record<string, unknown>[]
  const { data } = objects.find(({ kind }) => kind === 'ConfigMap') as unknown as { data: Record<string, string> }
  expect(load(data['testops-admin.yaml']!)).toMatchInlineSnapshot(`
    {
      "current": "prod",
      "deployments": {
        "prod": {
          "apiToken": {
            "env": "API_TOKEN",
          },
          "broker": {
            "password": {
              "env": "BROKER_PASSWORD",
            },
            "url": "amqp://t@mq.example.org",
          },
          "database": [
            {
              "password": {
                "env": "DATABASE_PASSWORD",
              },
              "url": "postgresql://t@db.example.org/t",
            },
            {
              "password": {
                "env": "DATABASE_2_PASSWORD",
              },
              "url": "postgresql://t@db.example.org/u",
            },
          ],
          "kubernetes": {
            "namespace": "testops",
          },
          "platform": "kubernetes",
          "sessions": {
            "sentinel": {
              "master": "m",
              "nodes": [
                "s.example.org",
              ],
              "password": {
                "env": "SESSIONS_SENTINEL_PASSWORD",
              },
            },
          },
          "url": "https://testops.example.org",
        },
      },
    }
  `)
  const { env } = (
    objects.find(({ kind }) => kind === 'CronJob') as unknown as {
      spec: { jobTemplate: { spec: { template: { spec: { containers: [{ env: { valueFrom?: object }[] }] } } } } }
    }
  ).spec.jobTemplate.spec.template.spec.containers[0]
  expect(env.filter(({ valueFrom }) => valueFrom)).toMatchInlineSnapshot(`
    [
      {
        "name": "API_TOKEN",
        "valueFrom": {
          "secretKeyRef": {
            "key": "api-token",
            "name": "mine",
          },
        },
      },
      {
        "name": "DATABASE_PASSWORD",
        "valueFrom": {
          "secretKeyRef": {
            "key": "database-password",
            "name": "mine",
          },
        },
      },
      {
        "name": "DATABASE_2_PASSWORD",
        "valueFrom": {
          "secretKeyRef": {
            "key": "database-2-password",
            "name": "mine",
          },
        },
      },
      {
        "name": "BROKER_PASSWORD",
        "valueFrom": {
          "secretKeyRef": {
            "key": "password",
            "name": "mq",
          },
        },
      },
      {
        "name": "SESSIONS_SENTINEL_PASSWORD",
        "valueFrom": {
          "secretKeyRef": {
            "key": "sessions-sentinel-password",
            "name": "mine",
          },
        },
      },
    ]
  `)
  const comments = stdout.split('\n').filter((line) => line.startsWith('# '))
  expect(comments).toContain(
    '#   kubectl -n testops create secret generic mine --from-file=api-token=FILE --from-file=database-password=FILE ' +
      '--from-file=database-2-password=FILE --from-file=sessions-sentinel-password=FILE',
  )
  expect(comments).toContain(
    '# Left out, as a pod has no use for it: kubernetes.context, kubernetes.values, broker.rabbitmqctl, ' +
      'accessLog.file',
  )
})

test('a unit gets secrets as credentials and from an environment file, and paths that hold anywhere', async () => {
  expect(await render('systemd', '-d', 'box', '--output', 'units')).toMatchObject({ exitCode: 0, stderr: '' })
  const unit = await readFile(join(place.directory, 'units/testops-admin-box.service'), 'utf8')
  expect(unit.split('\n').filter((line) => /Credential|EnvironmentFile/.test(line))).toEqual([
    'EnvironmentFile=/etc/testops-admin/testops-admin-box.env',
    'LoadCredential=api-token:/etc/testops-admin/testops-admin-box.api-token',
  ])
  expect(unit).toContain('with: MQ=…')
  const { deployments } = load(await readFile(join(place.directory, 'units/testops-admin-box.yaml'), 'utf8')) as {
    deployments: object
  }
  expect(JSON.parse(JSON.stringify(deployments).replaceAll(place.directory, 'HERE'))).toEqual({
    box: {
      platform: 'host',
      host: {
        commands: { start: ['HERE/bin/start'], stop: ['stop'], status: ['status'] },
        environmentFile: 'HERE/testops.env',
      },
      apiToken: { file: '/run/credentials/testops-admin-box.service/api-token' },
      broker: { url: 'amqp://t@mq.example.org', password: { env: 'MQ' } },
    },
  })
})

test.each<[string, string[], string | RegExp]>([
  ['a name that is none', ['cronjobs'], 'did you mean `cronjob`?'],
  [
    'a deployment of another platform',
    ['cronjob', '-d', 'box'],
    'is for platform kubernetes, but `box` is on platform host',
  ],
  ['a deployment of a cluster', ['systemd', '-d', 'prod'], 'is for platform host or compose'],
  ['no namespace', ['cronjob', '-d', 'nowhere'], /namespace of `nowhere` is unknown.*--namespace NAMESPACE/],
  ['no such deployment', ['grafana', '-d', 'brod'], 'did you mean `prod`?'],
  ['several files and no folder', ['alerts', '-d', 'prod'], /has 2 files.*-d prod --output DIR/],
  ['a flag of a new configuration', ['cronjob', '--url', 'https://a.example.org'], 'describes a new configuration'],
  ['a flag of another template', ['alerts', '-d', 'prod', '--image', 'a'], 'only on cronjob'],
  ['a deployment for a template without one', ['gitlab-ci', '-d', 'prod'], 'is the same for all deployments'],
  ['a namespace for a template without one', ['runbooks', '--namespace', 'a'], '--namespace has no effect'],
  ['no namespace at all', ['cronjob', '-d', 'prod', '--namespace', 'A b'], '--namespace must be'],
  ['an image that is none', ['cronjob', '-d', 'prod', '--image', 'a b'], '--image is not'],
  ['times that are none', ['cronjob', '-d', 'prod', '--schedule', '* * *'], 'is not a schedule of cron'],
  ['a calendar event that is none', ['systemd', '-d', 'box', '--schedule', 'a\nb'], '--schedule is empty, or'],
  ['a Secret that is none', ['cronjob', '-d', 'prod', '--secret', 'A_B'], '--secret is not'],
  ['a file of another kind', ['systemd', '-d', 'box', '--textfile', 'a.txt'], 'must be an absolute path'],
  ['an expression of GitHub', ['github-actions', '--results', '${{ secrets.A }}'], 'which GitHub would evaluate'],
  ['an empty value', ['gitlab-ci', '--results', ''], '--results is empty'],
])('refuses %s', async (_, words, message) => {
  const { stdout, stderr, exitCode } = await render(...words)
  expect([stdout, exitCode]).toEqual(['', 64])
  expect(stderr.replace(/\s+/g, ' ')).toMatch(message)
})

test.each(Object.keys(templates))('%s takes a deployment from the environment', async (name) => {
  const isOfCluster = templates[name]!.platforms?.includes('kubernetes')
  const environment = { TESTOPS_ADMIN_DEPLOYMENT: isOfCluster ? 'prod' : 'box', TESTOPS_ADMIN_TIMEOUT: '5' }
  expect(await renderWith(environment, name, '--output', 'out')).toMatchObject({ exitCode: 0, stderr: '' })
})

describe('what it proposes works as it stands', () => {
  const box = ['-d', 'box']
  test.each<[string, string[]]>([
    ['other times', ['cronjob', '-d', 'prod', '--schedule', 'nope', '--output', 'there']],
    ['another image', ['cronjob', '-d', 'nowhere', '--namespace', 'a', '--image', 'a b', '--secret', 'mine']],
    ['other times of a unit', ['systemd', ...box, '--schedule', 'nonsense', '--textfile', '/a/b.prom']],
    ['another file', ['systemd', ...box, '--config', './testops-admin.yaml', '--textfile', 'a.txt']],
    ['a folder', ['runbooks', ...box]],
    ['a template for this platform', ['cronjob', ...box, '--secret', 'mine']],
    ['a namespace', ['roles', '-d', 'nowhere']],
    ['no deployment', ['github-actions', '-d', 'prod', '--results', 'a b']],
    ['no flag of a new configuration', ['check', '--url', 'https://a.example.org']],
    ['no flag of a new configuration for a deployment', ['systemd', ...box, '--url', 'https://a.example.org']],
  ])('%s', async (_, words) => {
    const refused = await render(...words, '--json')
    const { error } = JSON.parse(refused.stdout) as { error: { suggestions: string[] } }
    const [program, ...again] = typedWords(error.suggestions[0]!.replace('NAMESPACE', 'spaces'))!
    expect([refused.exitCode, program]).toEqual([64, 'testops-admin'])
    expect(await place.run(again)).toMatchObject({ exitCode: 0, stderr: '' })
  })
})

describe('times', () => {
  test.each([
    ['* * *', 'it must have 5 fields'],
    ['nope', 'it must have 5 fields'],
    ['@sometimes', 'it must have 5 fields'],
    ['99 * * * *', '`99` is not a valid minute (0–59)'],
    ['* 24 * * *', '`24` is not a valid hour (0–23)'],
    ['* * 0 * *', '`0` is not a valid day of the month (1–31)'],
    ['* * * foo *', '`foo` is not a valid month (1–12)'],
    ['* * * * 7', '`7` is not a valid day of the week (0–6)'],
    ['*/0 * * * *', '`*/0` is not a valid minute (0–59)'],
    ['1,5-2 * * * *', '`5-2` is not a valid minute (0–59)'],
    ['1-2-3 * * * *', '`1-2-3` is not a valid minute (0–59)'],
    ['1/2/3 * * * *', '`1/2/3` is not a valid minute (0–59)'],
    ['*-5 * * * *', '`*-5` is not a valid minute (0–59)'],
    ['* * * * sun,', 'there is a comma too many in `sun,`'],
    ['* * mon * *', '`mon` is not a valid day of the month (1–31)'],
  ])('a CronJob has none at %s', async (schedule, why) => {
    const { stdout, stderr, exitCode } = await render('cronjob', '-d', 'prod', '--schedule', schedule)
    expect([stdout, exitCode]).toEqual(['', 64])
    expect(stderr.replace(/\s+/g, ' ')).toContain(`--schedule \`${schedule}\` is not a schedule of cron: ${why}`)
  })

  test.each(['0 * * * *', '*/15 9-17 1,15 JAN-mar sun', '0 0 ? * mon-fri', '5/10 0 1-31/2 12 6', '@hourly'])(
    'a CronJob runs at %s',
    async (schedule) => {
      const { stdout } = await render('cronjob', '-d', 'prod', '--schedule', schedule)
      const [job] = (loadAll(stdout) as { kind: string; spec: { schedule: string } }[]).slice(-1)
      expect([job?.kind, job?.spec.schedule]).toEqual(['CronJob', schedule])
    },
  )

  test.each([
    'nonsense',
    '99:99:99',
    '24:00',
    '2026-13-01',
    '2026-02-32',
    '*/5',
    '*:0/',
    'Monn 10:00',
    'Mon..',
    '10:',
    'Mon Tue',
    'daily Nowhere/Else',
    'daily gmt',
    'daily PST',
    '*:0/0',
    'daily  UTC',
  ])('a unit without systemd at hand has none at %s', async (schedule) => {
    const words = ['systemd', '-d', 'box', '--schedule', schedule, '--output', 'units']
    const { stderr, exitCode } = await renderWith({ PATH: '/none' }, ...words)
    expect([stderr, exitCode]).toEqual([expect.stringContaining('is not a calendar event of') as string, 64])
    expect(await filesIn('units')).toEqual(['no folder'])
  })

  test.each([
    'hourly',
    'Weekly Pacific/Auckland',
    'semi-annually',
    'Mon,Wed..Fri 08:00',
    'Sat-Sun 5:00:30.25',
    'Mon, 17:48',
    'Thu,Fri 2012-*-1,5 11:12:13',
    '2003-02..04-05',
    '*-02~03',
    'Mon *-05~07/1',
    '*-*-* *:*:0/10.5',
    '05:40:23.4200004/3.1700005',
    '03-05 08:05:40 UTC',
    'monday *-12-* 17:00',
    '12,14,13,12:20,10,30',
    '@1234567890',
    'daily GMT',
    'Sun 03:00 America/Argentina/Buenos_Aires',
    '00:00/010',
  ])('a unit without systemd at hand runs at %s', async (schedule) => {
    const words = ['systemd', '-d', 'box', '--schedule', schedule, '--output', 'units']
    expect(await renderWith({ PATH: '/none' }, ...words)).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await readFile(join(place.directory, 'units/testops-admin-box.timer'), 'utf8')).toContain(
      `\nOnCalendar=${schedule}\n`,
    )
  })

  test.each([
    ['exit 0', 'nonsense 99', 0],
    ['echo "Failed to parse calendar specification \'daily\': Invalid argument" >&2; exit 1', 'daily', 64],
    ['echo "Unknown operation calendar." >&2; exit 1', 'daily', 0],
    ['echo "Unknown operation calendar." >&2; exit 1', 'nonsense', 64],
  ])('what systemd says comes first: %s', async (script, schedule, code) => {
    const bin = join(place.directory, 'programs')
    await mkdir(bin)
    await writeFile(join(bin, 'systemd-analyze'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    const words = ['systemd', '-d', 'box', '--schedule', schedule, '--output', 'units']
    expect((await renderWith({ PATH: bin }, ...words)).exitCode).toBe(code)
  })
})

test.each(['alerts', 'runbooks'])('%s name the configuration so that their commands work anywhere', async (name) => {
  await render(name, '-d', 'box', '--config', './testops-admin.yaml', '--output', 'out')
  const texts = await Promise.all(
    (await filesIn('out')).map(async (it) => readFile(join(place.directory, 'out', it), 'utf8')),
  )
  const named = texts.flatMap((text) => [...text.matchAll(/testops-admin [^\n]*--config (\S+testops-admin\.yaml)/g)])
  expect(named.length).toBeGreaterThan(5)
  expect([...new Set(named.map(([, file]) => file))]).toEqual([join(place.directory, 'testops-admin.yaml')])
})

test('refuses a secret that the configuration holds in clear, and does not repeat it', async () => {
  const { stdout, stderr, exitCode } = await render('systemd', '-d', 'clear', '--output', 'units')
  expect([stdout, exitCode]).toEqual(['', 4])
  expect(stderr).toContain('host.commands.start')
  // a word of a command cannot say where a secret is kept
  expect(stderr).toContain('write a script that reads the secret from a file')
  expect(stderr).not.toContain('{file: PATH}')
  expect(stderr).not.toContain('hunter2secret')
  expect(await filesIn('units')).toEqual(['no folder'])
})

test('without a configuration, a name is enough for alerts, and nothing else is guessed', async () => {
  const empty = await freshPlace()
  try {
    const run = async (...words: string[]): Promise<Ended> =>
      empty.run(['init', '--template', ...words], { environment: { KUBECONFIG: '/none', DOCKER_HOST: 'unix:///none' } })
    expect(await run('alerts', '-d', 'prod', '--output', 'rules')).toMatchObject({ exitCode: 0 })
    expect(await run('alerts', '-d', 'a b', '--output', 'other')).toMatchObject({ exitCode: 64 })
    expect((await run('cronjob', '-d', 'prod')).exitCode).toBe(64)
    expect((await readdir(empty.directory)).filter((it) => !it.startsWith('.'))).toEqual(['rules'])
  } finally {
    await empty.remove()
  }
})

test.each(Object.keys(templates))('%s lists in JSON what it wrote, and writes it once', async (name) => {
  const needs = templates[name]!.needs
  const words = needs === 'nothing' ? [] : ['-d', templates[name]!.platforms?.includes('kubernetes') ? 'prod' : 'box']
  const { stdout } = await render(name, ...words, '--output', 'out/deep', '--json')
  const document = JSON.parse(stdout) as TemplateDocument
  expect(faultsOf('init-template', document)).toEqual([])
  const written = await filesIn('out/deep')
  expect(document.files.map((file) => file.replace(`${place.directory}/out/deep/`, '')).sort()).toEqual(written.sort())
  const again = await render(name, ...words, '--output', 'out/deep', '--json')
  expect([again.exitCode, JSON.parse(again.stdout)]).toMatchObject([4, { error: { code: 'REFUSED' } }])
})

test('writes nothing if one of the files is there', async () => {
  await mkdir(join(place.directory, 'rules'))
  await writeFile(join(place.directory, 'rules/alerts.test.yaml'), 'mine')
  const { stderr, exitCode } = await render('alerts', '-d', 'prod', '--output', 'rules')
  expect([exitCode, stderr.replace(/\s+/g, ' ')]).toEqual([
    4,
    expect.stringContaining('already exists. Nothing was') as string,
  ])
  expect(await filesIn('rules')).toEqual(['alerts.test.yaml'])
  expect(await readFile(join(place.directory, 'rules/alerts.test.yaml'), 'utf8')).toBe('mine')
})

test('of two at once, one writes everything and the other nothing', async () => {
  const ended = await Promise.all([1, 2, 3].map(async () => render('runbooks', '-d', 'box', '--output', 'pages')))
  const codes = ended.map(({ exitCode }) => exitCode).sort()
  expect(codes.filter((code) => code === 0)).toEqual([0])
  const [won] = ended.filter(({ exitCode }) => exitCode === 0)
  expect(await filesIn('pages')).toHaveLength(won!.stdout.trim().split('\n').length)
})

/** Runs a command in a shell where a file may have at most that many blocks of 1024 bytes. */
async function within(blocks: number, words: readonly string[]): Promise<{ exitCode: number | null; stderr: string }> {
  const script = `trap '' XFSZ; ulimit -f ${blocks}; exec "$@"`
  const child = spawn('bash', ['-c', script, 'bash', process.execPath, program, ...words], {
    cwd: place.directory,
    env: { PATH: process.env['PATH'], HOME: place.directory, NODE_DISABLE_COMPILE_CACHE: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [stderr, exitCode] = await Promise.all([
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ])
  return { exitCode, stderr }
}

test('a file that cannot be written whole leaves nothing, and the folder neither', async () => {
  const { exitCode, stderr } = await within(5, ['init', '--template', 'alerts', '-d', 'prod', '--output', 'a/b'])
  expect([exitCode, stderr.replace(/\s+/g, ' ')]).toEqual([69, expect.stringContaining('cannot be written') as string])
  expect(await filesIn('a')).toEqual(['no folder'])
})

test.each(['/proc/here', '/dev/null/here'])('says why it cannot write to %s', async (folder) => {
  const { exitCode, stderr } = await render('alerts', '-d', 'prod', '--output', folder)
  expect([exitCode, stderr.replace(/\s+/g, ' ')]).toEqual([69, expect.stringContaining('cannot be written') as string])
})

test('runbooks have this deployment in each command that takes one', async () => {
  await render('runbooks', '-d', 'box', '--output', 'pages')
  const pages = await Promise.all(
    (await filesIn('pages')).map(async (it) => readFile(join(place.directory, 'pages', it), 'utf8')),
  )
  const commands = pages.flatMap((page) => page.split('\n')).filter((line) => line.startsWith('testops-admin '))
  expect(commands.length).toBeGreaterThan(100)
  const without = new Set(commands.filter((line) => !line.includes(' -d box')).map((line) => line.split(' ')[1]))
  expect([...without].sort()).toEqual(['explain', 'lint-results', 'set-env', 'use-legacy-image'])
  // the platform's own
  expect(pages[0]).toContain(`${place.directory}/bin/start   # starts it`)
})

test('a dashboard has the fields that Grafana documents, and reads metrics that doctor writes', async () => {
  const { stdout } = await render('grafana', '-d', 'box')
  const dashboard = JSON.parse(stdout) as {
    uid: string
    title: string
    templating: { list: { name: string; current?: { value: string } }[] }
    panels: { id: number; gridPos: { x: number; y: number; w: number; h: number }; targets: { expr: string }[] }[]
  }
  expect(dashboard).toMatchObject({ title: 'testops: box', schemaVersion: 39, time: { from: 'now-24h', to: 'now' } })
  expect(dashboard.uid).toMatch(/^[\w-]{1,40}$/)
  expect(dashboard.templating.list.find(({ name }) => name === 'deployment')?.current?.value).toBe('box')
  const ids = dashboard.panels.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { gridPos } of dashboard.panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
  const documented = await readFile(join(import.meta.dirname, '../../docs/monitoring.md'), 'utf8')
  const named = dashboard.panels
    .flatMap(({ targets }) => targets)
    .flatMap(({ expr }) => expr.match(/testops_\w+/g) ?? [])
  for (const metric of named) expect(documented).toContain(`\`${metric}\``)
})
