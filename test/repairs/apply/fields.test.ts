import { beforeAll, describe, expect, test } from 'vitest'
import { kubernetesTools } from '../../support/kubernetes-tools.ts'
import { isCampaign, spread } from '../../support/campaign.ts'
import {
  all,
  deployment,
  done,
  former,
  helm4,
  is,
  kubectl,
  legacy,
  managers,
  name,
  slowSituation,
  upgrade,
  valueOf,
  wanted,
  was,
} from './owners.ts'
import { before, chart, isQuestion } from './situation.ts'
import type { Situation } from './situation.ts'

beforeAll(async () => {
  await kubernetesTools()
  await kubernetesTools({ isHelm3: true })
}, 300_000)

test.each(isCampaign ? all : [helm4])(
  '$what applies what it has after the service was stopped and started, with as many replicas or others',
  async ({ given, apply }) => {
    const it = await slowSituation(given)
    await apply(it)
    await kubectl(it, 'scale', 'deployment/testops-testops', '--replicas=2')
    await done(it, ['service', 'stop'])
    await done(it, ['service', 'start'])
    expect(managers(it)).not.toContain('testops-admin')
    await apply(it)
    expect(deployment(it).spec.replicas).toBe(1)
    await done(it, ['service', 'restart'])
    await apply(it)
    await done(it, ['service', 'stop'])
    await apply(it)
    expect(managers(it)).not.toContain('testops-admin')
  },
  240_000,
)

describe('killed between a write and giving its fields up', () => {
  /** The program, ended as soon as it asks for the nth time to give up what it owns. */
  async function killedBefore(it: Situation, nth: number, words: readonly string[]): Promise<void> {
    let left = nth
    const begun = it.someone.begin([...words, '--confirm', 'prod', '--json'])
    it.server.instead = ({ method, url = '' }, response) => {
      if (method !== 'PATCH' || url.includes('dryRun') || !managers(it).includes('testops-admin') || --left > 0)
        return false
      begun.child.kill('SIGKILL')
      response.destroy()
      return true
    }
    expect((await begun.ended).signal).toBe('SIGKILL')
    it.server.instead = null
    expect(managers(it)).toContain('testops-admin')
  }

  // a start owns nothing: what counts replicas belongs to nobody once they were none
  const instants = [
    { when: 'before the service is stopped', nth: 1 },
    { when: 'when the setting is written', nth: 2 },
  ]

  test.each(
    spread(
      instants.flatMap((it) => ['resume', 'undo'].map((way) => ({ ...it, way }))),
      3,
      0,
    ),
  )(
    '$when: $way leaves nothing',
    async ({ nth, way }) => {
      const it = await slowSituation()
      await killedBefore(it, nth, ['set-env', `${name}=${wanted}`])
      const { runs } = (await it.someone.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
      await done(it, way === 'undo' ? ['undo', runs[0]!.run] : ['resume'])
      expect([managers(it).includes('testops-admin'), valueOf(it)]).toEqual([false, way === 'undo' ? former : wanted])
      await upgrade(it, '7200')
      expect(valueOf(it)).toBe('7200')
    },
    120_000,
  )
})

describe('fields that are owned when an upgrade is to be', () => {
  const own = [
    '-p',
    JSON.stringify({
      spec: { template: { spec: { containers: [{ name: 'testops-testops', env: [{ name, value: wanted }] }] } } },
    }),
  ]
  const set = async (it: Situation, manager: string): Promise<string> =>
    kubectl(it, 'patch', 'deployment/testops-testops', `--field-manager=${manager}`, ...own)
  const refused = new RegExp(
    '^helm upgrade would fail at release testops in namespace testops, ' +
      'because the chart sets fields owned by other field managers: `kubectl-set` owns ' +
      String.raw`\.spec\.template\.spec\.containers\[name="testops-testops"\]` +
      String.raw`\.env\[name="ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS"\]\.value of deployments\/testops-testops\. ` +
      'Nothing was changed$',
  )

  async function refusal(
    { someone }: Situation,
    words: readonly string[],
  ): Promise<{ code: number | null; message: string; suggestions: readonly string[] }> {
    const ended = await someone.run([...words, '--json'])
    const { error } = ended.json<{ error: { message: string; suggestions: string[] } }>()
    return { code: ended.code, message: error.message, suggestions: error.suggestions }
  }

  test('by a helm whose program has another name: ' +
    'it applies as `helm` all the same, and nothing is refused', async () => {
    const it = await slowSituation({ isWrapped: true })
    const run = await done(it, legacy)
    expect([it.image(), managers(it)]).toEqual([is, expect.arrayContaining(['helm'])])
    await done(it, ['undo', run])
    expect([it.image(), managers(it).filter((name) => name.startsWith('helm-'))]).toEqual([was, []])
  }, 120_000)

  test('by a former version of this program, they are given up, and the upgrade is made', async () => {
    const it = await slowSituation()
    await set(it, 'testops-admin')
    const run = await done(it, legacy)
    expect([it.image(), valueOf(it), managers(it).includes('testops-admin')]).toEqual([is, former, false])
    await set(it, 'testops-admin')
    await done(it, ['undo', run])
    expect([it.image(), valueOf(it), managers(it).includes('testops-admin')]).toEqual([was, former, false])
  }, 120_000)

  test('by others, it is refused before anything is changed, and asked on trial alone', async () => {
    const it = await slowSituation()
    await set(it, 'kubectl-set')
    const [asked, spec] = [it.server.requests.length, structuredClone(deployment(it).spec)]
    for (const more of [['--dry-run'], ['--confirm', 'prod']]) {
      const { code, message, suggestions } = await refusal(it, [...legacy, ...more])
      expect([code, message, suggestions[0]]).toEqual([
        4,
        expect.stringMatching(refused),
        'kubectl --context test -n testops get deployments/testops-testops -o yaml --show-managed-fields',
      ])
    }
    const writes = it.server.requests.slice(asked).filter((line) => !isQuestion(line) && !line.includes('/leases'))
    expect([writes, await it.text(), await it.history(), deployment(it).spec]).toEqual([
      [],
      before,
      ['deployed: Install complete'],
      spec,
    ])
    await it.helm('upgrade', 'testops', chart, '-f', it.file, '--force-conflicts')
    await done(it, legacy)
  }, 120_000)

  test('by others since the plan was made, it is refused before the first step', async () => {
    const it = await slowSituation()
    let isFirst = true
    it.server.instead = ({ url = '' }) => {
      // the lock is taken once the plan is made
      if (url.includes('/leases') && isFirst) {
        isFirst = false
        void set(it, 'kubectl-set')
      }
      return false
    }
    const { message } = await refusal(it, [...legacy, '--confirm', 'prod'])
    expect([message, await it.text()]).toEqual([expect.stringMatching(refused), before])
  }, 120_000)

  test('by others since, an undo is refused before anything is changed', async () => {
    const it = await slowSituation()
    const run = await done(it, legacy)
    await set(it, 'kubectl-set')
    const text = await it.text()
    const { message } = await refusal(it, ['undo', run, '--confirm', 'prod'])
    expect([message, await it.text(), it.image()]).toEqual([
      expect.stringMatching(/^helm rollback would fail at release testops/),
      text,
      is,
    ])
  }, 120_000)

  test('with helm 3, which merges, nothing is in the way', async () => {
    const it = await slowSituation({ isHelm3: true })
    await set(it, 'kubectl-set')
    await done(it, legacy)
    expect(it.image()).toBe(is)
  }, 120_000)
})
