import { hostname, machine } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openHost } from '../../../src/platforms/host/index.ts'
import type { HostSettings } from '../../../src/platforms/host/index.ts'
import { errorOf } from '../../runtime/error-of.ts'
import { folderWith } from '../../runtime/folder.ts'
import { nothing } from './nothing.ts'

const serviceOf = (some: Partial<HostSettings>) => openHost({ ...nothing, ...some }, { timeoutMs: 5000 }).service()

test.each([
  [{}, { name: null, tag: null, build: null }],
  [
    { image: 'testops:527u01', build: '527u01' },
    { registry: '', name: 'testops', tag: '527u01', build: '527u01' },
  ],
  [
    { image: 'registry.example.org:5000/a/b/testops-legacy:527u01@sha256:abc' },
    { registry: 'registry.example.org:5000/a/b/', name: 'testops-legacy', tag: '527u01', build: null },
  ],
  [
    { image: 'registry.example.org:5000/testops' },
    { registry: 'registry.example.org:5000/', name: 'testops', tag: null, build: null },
  ],
])('image of %j', async (some, expected) => {
  expect(await (await serviceOf(some)).image()).toEqual({ ...expected, declaredIn: 'testops-admin.yaml' })
})

test('this machine', async () => {
  const [own] = await (await serviceOf({})).machines()
  expect(own).toMatchObject({ name: hostname(), architecture: machine() })
  if (machine() === 'x86_64') expect(own!.processors[0]).toContain('sse2')
})

test('a copy of its cpuinfo', async () => {
  const folder = await folderWith({
    cpuinfo:
      'processor\t: 0\nflags\t\t: fpu lm avx2\n\nprocessor\t: 1\nflags\t\t: fpu lm avx2\n\nprocessor\t: ' +
      '2\nflags\t\t: fpu lm\n',
    empty: 'no processors\n',
    cut: 'processor\t: 0\nflags\t\t: fpu lm avx2\n\nprocessor\t: 1\nflags\t\t: fpu l',
  })
  expect(await (await serviceOf({ cpuinfo: join(folder, 'cpuinfo') })).machines()).toEqual([
    {
      name: hostname(),
      architecture: 'x86_64',
      processors: [
        ['fpu', 'lm', 'avx2'],
        ['fpu', 'lm'],
      ],
      // of the machine that it was copied from, nothing is known
      hypervisor: null,
    },
  ])
  const failure = async (file: string): Promise<string> =>
    (await errorOf((await serviceOf({ cpuinfo: join(folder, file) })).machines())).replaceAll(folder, 'FOLDER')
  expect(await failure('empty')).toBe('UNEXPECTED_ANSWER: FOLDER/empty contains no processor with `flags`')
  expect(await failure('cut')).toBe(
    'UNEXPECTED_ANSWER: FOLDER/cut is incomplete: the flags of some processors are missing',
  )
  expect(await failure('none')).toBe(
    "UNAVAILABLE: the processor's flags cannot be read from FOLDER/none: ENOENT: no such file or directory, " +
      "open 'FOLDER/none'",
  )
})

test('names are looked up on this machine', async () => {
  const service = await serviceOf({})
  expect(await service.resolve('localhost')).toBe(true)
  expect(await service.resolve('no-such-host.invalid')).toBe(false)
})
