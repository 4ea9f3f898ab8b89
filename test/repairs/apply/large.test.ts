import { readFile } from 'node:fs/promises'
import { beforeAll, expect, test } from 'vitest'
import { fillCluster, most, watchMemory } from '../../kubernetes/large.ts'
import { kubernetesTools } from '../../support/kubernetes-tools.ts'
import { deployment, former, is, legacy, name, valueOf, wanted, was } from './owners.ts'
import { before, chart, situation } from './situation.ts'

beforeAll(async () => void (await kubernetesTools()), 300_000)

test('set-env and use-legacy-image of a release in a large namespace of a large cluster stay small, and so does ' +
  'their undo', async () => {
  const it = await situation()
  fillCluster(it.cluster, it.cluster.pods[0]!.metadata.name)
  const small = async (words: readonly string[]): Promise<string> => {
    const begun = it.someone.begin([...words, '--timeout', '60', '--confirm', 'prod', '--json'])
    const megabytes = watchMemory(begun.child)
    const ended = await begun.ended
    expect([words.join(' '), ended.code], ended.stdout + ended.stderr).toEqual([words.join(' '), 0])
    expect([megabytes() > 20, megabytes() < most], `${words.join(' ')}: ${megabytes()} MB`).toEqual([true, true])
    return ended.json<{ run: string }>().run
  }
  const set = await small(['set-env', `${name}=${wanted}`, '--values', it.file, '--apply', '--chart', chart])
  expect(valueOf(it)).toBe(wanted)
  await small(['undo', set])
  const image = await small(legacy)
  expect(deployment(it).spec.template.spec.containers[0]!.image).toBe(is)
  await small(['undo', image])
  expect([
    valueOf(it),
    deployment(it).spec.template.spec.containers[0]!.image,
    await readFile(it.file, 'utf8'),
  ]).toEqual([former, was, before])
}, 480_000)
