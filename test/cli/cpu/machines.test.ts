import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { judgedMachines } from '../../../src/cli/cpu/machines.ts'
import { cpuExitCode } from '../../../src/output/cpu.ts'
import { v3Flags } from '../../fakes/index.ts'
import { faultsOf } from '../../output/schemas.ts'

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'testops-admin cpu-'))))
afterAll(() => rm(folder, { recursive: true }))

const processor = (flags: readonly string[]): string =>
  `processor\t: 0\nmodel name\t: some\nflags\t\t: ${flags.join(' ')}\nbugs\t\t:\npower management:\n\n`

async function fileOf(name: string, text: string): Promise<string> {
  const file = join(folder, name)
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(file, text)
  return file
}

async function judged(...files: string[]): Promise<object[]> {
  const document = await judgedMachines({ here: false, file: files })
  expect(faultsOf('check-cpu', JSON.parse(JSON.stringify(document)))).toEqual([])
  return [...document.machines]
}

describe('a cpuinfo file', () => {
  const withoutAbm = v3Flags.filter((it) => it !== 'abm')
  const cases = [
    {
      what: 'v3',
      text: processor(v3Flags),
      says: { level: 'x86-64-v3', missing: [], hypervisor: null, verdict: 'has-v3' },
    },
    {
      what: 'v3 in a guest',
      text: processor([...v3Flags, 'hypervisor']),
      says: { level: 'x86-64-v3', hypervisor: 'unnamed', verdict: 'has-v3' },
    },
    {
      what: 'v2: abm stands for LZCNT',
      text: processor(withoutAbm),
      says: { level: 'x86-64-v2', missing: ['abm'], verdict: 'lacks-v3' },
    },
    {
      what: 'one processor of two',
      text: processor(v3Flags) + processor(withoutAbm),
      says: { level: 'x86-64-v2', missing: ['abm'], verdict: 'lacks-v3' },
    },
    {
      what: 'Windows line ends',
      text: processor(v3Flags).replaceAll('\n', '\r\n'),
      says: { level: 'x86-64-v3', verdict: 'has-v3' },
    },
    {
      what: '32 bits',
      text: processor(v3Flags.filter((it) => it !== 'lm')),
      says: { level: 'below x86-64', missing: ['lm'], verdict: 'lacks-v3' },
    },
    {
      what: 'ARM',
      text: 'processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n',
      says: { level: 'aarch64', missing: [], verdict: 'other-architecture' },
    },
    { what: 'Z', text: 'vendor_id       : IBM/S390\n', says: { level: 's390x', verdict: 'other-architecture' } },
    {
      what: 'POWER',
      text: 'processor\t: 0\ncpu\t\t: POWER9, altivec supported\n',
      says: { level: 'ppc64le', verdict: 'other-architecture' },
    },
  ]
  test.each(cases)('of $what', async ({ text, says }) => {
    expect(await judged(await fileOf('node-1', text))).toMatchObject([{ name: 'node-1', ...says }])
  })

  const whole = processor(v3Flags) + processor(v3Flags)
  const older = processor(withoutAbm)
  const lastFlags = whole.lastIndexOf('flags')
  const cut = [
    { what: 'within the flags of the only processor', text: processor(v3Flags).slice(0, 60) },
    { what: 'within the flags of the last processor', text: whole.slice(0, lastFlags + 40) },
    { what: 'behind the flags, where the next would have followed', text: whole.slice(0, whole.lastIndexOf('\nbugs')) },
    { what: 'behind the name of the flags', text: `${whole.slice(0, whole.lastIndexOf('flags'))}flags\t\t:\n` },
    { what: 'within the name of the flags', text: whole.slice(0, lastFlags + 3) },
    { what: 'before the flags of the last processor', text: whole.slice(0, lastFlags) },
    {
      what: 'before the flags of the only processor',
      text: 'processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: some\n',
    },
    { what: 'behind the line of the flags of the last processor', text: whole.slice(0, whole.lastIndexOf('bugs')) },
    { what: 'behind a processor that lacks something', text: older + whole.slice(0, lastFlags + 40) },
    {
      what: 'with a processor without flags in its middle',
      text:
        `${processor(v3Flags)}processor\t: 1\nmodel name\t: some\nbugs\t\t:\npower ` +
        `management:\n\n${processor(v3Flags)}`,
    },
    { what: 'with Windows line ends', text: whole.slice(0, lastFlags).replaceAll('\n', '\r\n') },
  ]
  test.each(cut)('that is cut $what comes to no verdict', async ({ text }) => {
    const document = await judgedMachines({ here: false, file: [await fileOf('node-1', text)] })
    expect(document.machines).toMatchObject([
      {
        name: 'node-1',
        level: 'unknown',
        missing: [],
        verdict: 'unknown',
        reason: 'the file is incomplete: it does not show the flags of every processor',
      },
    ])
    expect(cpuExitCode(document)).toBe(3)
  })

  test.each([
    { what: 'one line of grep', text: `flags\t\t: ${v3Flags.join(' ')}\n` },
    { what: 'without the line ends at its end', text: processor(v3Flags).trimEnd() },
  ])('that is whole: $what', async ({ text }) => {
    expect(await judged(await fileOf('node-1', text))).toMatchObject([{ verdict: 'has-v3' }])
  })

  test.each(['', 'root:x:0:0\n', '\u0000\u0001ELF', 'flags\n'])('that is none: %j', async (text) => {
    const file = await fileOf('other', text)
    await expect(judged(file)).rejects.toMatchObject({
      code: 'USAGE',
      message: 'other is not a cpuinfo file: it shows no processor',
    })
  })

  test('that is not there, and a folder', async () => {
    await expect(judged(join(folder, 'none'))).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('cannot be read: ENOENT') as string,
    })
    await expect(judged(folder)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('cannot be read: EISDIR') as string,
    })
  })

  test('several of one name are told apart', async () => {
    const files = [await fileOf('a/cpuinfo', processor(v3Flags)), await fileOf('b/cpuinfo', processor(v3Flags))]
    expect(await judged(...files)).toMatchObject(files.map((name) => ({ name })))
  })
})

test('this machine', async () => {
  const { machines } = await judgedMachines({ here: true, file: [] })
  expect(machines).toHaveLength(1)
  expect(machines[0]!.verdict).not.toBe('unknown')
})

test("a deployment's machines, without its secrets", async () => {
  const cpuinfo = await fileOf('of-prod', processor(v3Flags.filter((it) => it !== 'bmi2')))
  const config = await fileOf(
    'testops-admin.yaml',
    'deployments: {prod: {url: "https://testops.example.org", apiToken: {env: NOT_THERE}, cpuinfo: ' +
      `${JSON.stringify(cpuinfo)}}}\n`,
  )
  const { machines } = await judgedMachines({ config, here: false, file: [] })
  expect(machines).toMatchObject([{ missing: ['bmi2'], verdict: 'lacks-v3' }])
})
