import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { kubernetesTools } from '../../support/kubernetes-tools.ts'
import { failpointsOf, undoFailpointsOf } from '../support/failpoints.ts'
import { after, before, situation } from './situation.ts'
import type { Situation } from './situation.ts'
import { inner, spread } from '../../support/campaign.ts'

beforeAll(async () => void (await kubernetesTools()), 300_000)

const words = ['use-legacy-image', '--apply', '--build', '527u01']
const [was, is] = ['r/testops/testops:526u03', 'r/testops/testops-legacy:527u01']
const kinds = ['edit-values', 'upgrade-release', 'await-rollout'] as const
// this deployment has no broker, which would keep a copy of the journal
const instants = failpointsOf(kinds).filter((name) => name !== 'begin:copied')

/** Its parent was killed before it: where nobody waits for its end it is left as a zombie. */
function isGone(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return true
  }
}

async function stateOf({ text, image, history }: Situation): Promise<unknown> {
  return [await text(), image(), (await history()).at(-1)!.split(':')[0]]
}

async function runOf({ someone }: Situation): Promise<string> {
  return (await someone.run(['history', '--json'])).json<{ runs: { run: string }[] }>().runs[0]!.run
}

/** On a machine that is busy, pods that are ready at once are so before they are waited for. */
function slowly(it: Situation): Situation {
  it.cluster.timing.readyMs = 3000
  return it
}

describe('killed', () => {
  test.each(inner(spread(instants, 3, 0), 2))(
    'at %s, it is gone on with',
    async (failpoint) => {
      const it = slowly(await situation())
      await it.someone.killedAt(failpoint, words)
      const ended = await it.someone.run(['resume', '--json'])
      expect([ended.code, await stateOf(it)], ended.stdout + ended.stderr).toEqual([0, [after, is, 'deployed']])
    },
    120_000,
  )

  test.each(inner(spread(instants, 3, 1), 2))(
    'at %s, it is taken back',
    async (failpoint) => {
      const it = slowly(await situation())
      await it.someone.killedAt(failpoint, words)
      const ended = await it.someone.repair(['undo', await runOf(it)])
      expect([ended.code, await stateOf(it)], ended.stdout + ended.stderr).toEqual([0, [before, was, 'deployed']])
    },
    120_000,
  )

  test.each(inner(undoFailpointsOf(kinds), 2))(
    'at %s, while it is taken back',
    async (failpoint) => {
      const it = await situation()
      const { run } = (await it.someone.repair(words)).json<RepairDocument>()
      await it.someone.killedAt(failpoint, ['undo', run!])
      const ended = await it.someone.run(['resume', '--json'])
      expect([ended.code, await stateOf(it)], ended.stdout + ended.stderr).toEqual([0, [before, was, 'deployed']])
    },
    120_000,
  )
})

/** Whose helm waits for a hook that does not end, as it is to be killed along with this program, or alone. */
async function hanging(): Promise<Situation & { helmOf: () => number; release: () => void }> {
  const it = await situation({ values: `${before}check: {enabled: true}\n` })
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  it.cluster.hooks.job = async () => released.then(() => 'Complete' as const)
  const begun = it.someone.begin([...words, '--confirm', 'prod', '--json'])
  await begun.until('helm upgrades release')
  await expect
    .poll(async () => (await it.history()).at(-1), { timeout: 30_000, interval: 200 })
    .toMatch(/^pending-upgrade/)
  const helm = await expect
    .poll(async () => markIn(it), { timeout: 10_000, interval: 100 })
    .toBeGreaterThan(0)
    .then(async () => markIn(it))
  begun.child.kill('SIGKILL')
  await begun.ended
  return { ...it, helmOf: () => helm, release }
}

/** The number of the helm that a journal names; 0: it names none yet. */
async function markIn({ someone }: Situation): Promise<number> {
  const { readdir, readFile } = await import('node:fs/promises')
  const files = (await readdir(someone.state, { recursive: true, withFileTypes: true })).filter((it) => it.isFile())
  const texts = await Promise.all(files.map(async (it) => readFile(`${it.parentPath}/${it.name}`, 'utf8')))
  return Number(/"helm \S+ (\d+) /.exec(texts.join('\n'))?.[1] ?? 0)
}

test('a helm that outlives this program comes to its end by itself, and is waited for', async () => {
  const it = await hanging()
  const resumed = it.someone.begin(['resume', '--json'])
  await resumed.until('waiting for the helm operation on ')
  it.release()
  const ended = await resumed.ended
  expect([ended.code, await it.history()], ended.stdout).toEqual([
    0,
    ['superseded: Install complete', 'deployed: Upgrade complete'],
  ])
}, 120_000)

test.each(['resume', 'undo'])(
  'a helm that is killed too leaves the release pending, of which %s makes an end',
  async (way) => {
    const it = await hanging()
    const helm = it.helmOf()
    process.kill(helm, 'SIGKILL')
    it.release()
    await expect.poll(() => isGone(helm)).toBe(true)
    expect((await it.history()).at(-1)).toBe('pending-upgrade: Preparing upgrade')
    const ended = await (way === 'resume'
      ? it.someone.run(['resume', '--json'])
      : it.someone.repair(['undo', await runOf(it)]))
    expect([ended.code, it.image(), (await it.history()).at(-1)], ended.stdout).toEqual(
      way === 'resume' ? [0, is, 'deployed: Upgrade complete'] : [0, was, 'deployed: Rollback to 1'],
    )
  },
  120_000,
)
