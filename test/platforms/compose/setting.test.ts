import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { SettingChange } from '../../../src/core/controls.ts'
import { composeWorld, recorded } from './world.ts'

const image = 'registry.example.org/qameta/testops:26.2.1'
const fileOf = (service: string): string =>
  `services:\n  testops:\n    image: ${image}\n${service.replace(/^(?=.)/gm, '    ')}`
const set = (to: string | null, from: string | null = 'false'): SettingChange => ({ name: 'A', from, to })

describe('is not touched', () => {
  test('where its container would get another image with it', async () => {
    const world = await composeWorld(
      { containers: [await recorded('stopped')] },
      { 'project/docker-compose.yml': fileOf('environment: {}\n').replace('26.2.1', '26.3.1') },
    )
    const control = await (await world.open()).control()
    await expect(control.writeSetting(set('true', null))).rejects.toThrow(
      `this change would also change the image: the compose file has \`${image.replace('26.2.1', '26.3.1')}\`, ` +
        `but container \`testops\` runs \`${image}\``,
    )
  })

  test('where the shell sets what it comes from', async () => {
    const world = await composeWorld(
      { containers: [await recorded('stopped')] },
      { 'project/docker-compose.yml': fileOf('environment:\n  A: ${X}\n'), 'project/.env': 'X=1\n' },
    )
    Object.assign(world.options.environment ?? {}, { X: 'false' })
    const control = await (await world.open()).control()
    await expect(control.writeSetting(set('true'))).rejects.toThrow(
      '`A` cannot be set: its value comes from `X` in the environment of this shell',
    )
  })

  test('where the files are elsewhere', async () => {
    const world = await composeWorld({ containers: [await recorded('stopped')] }, {})
    const control = await (await world.open()).control()
    await expect(control.trySetting(set('true', null))).rejects.toThrow(
      '`A` cannot be set: the compose files of project `testops` are not on this machine, ' +
        'or this user cannot read them',
    )
  })
})

test('asking for the right to set it tries nothing', async () => {
  const files = { 'project/docker-compose.yml': fileOf('environment:\n  A: ${X}\n'), 'project/.env': 'X=false\n' }
  const world = await composeWorld({ containers: [await recorded('stopped')] }, files)
  const control = await (await world.open()).control()
  const asks = async (work: () => Promise<unknown>): Promise<number> => {
    const before = world.asked.filter((line) => / config\b/.test(line)).length
    await work()
    return world.asked.filter((line) => / config\b/.test(line)).length - before
  }
  const [asked, tried] = [
    await asks(() => control.askRights!(set('true'))),
    await asks(() => control.trySetting(set('true'))),
  ]
  expect([await asks(() => control.askRights!(null)), tried > asked]).toEqual([0, true])
  expect(await readFile(join(world.folder, 'project/.env'), 'utf8')).toBe('X=false\n')
})

test('the last of several files that has it is written', async () => {
  const over = `services:\n  testops:\n    environment:\n      A: "false"\n`
  const world = await composeWorld(
    {},
    { 'project/compose.yaml': fileOf('environment:\n  A: "1"\n'), 'project/compose.override.yaml': over },
  )
  const control = await (await world.open({ folder: join(world.folder, 'project') })).control()
  expect(await control.writeSetting(set('true'))).toBe('set')
  expect(await readFile(join(world.folder, 'project/compose.override.yaml'), 'utf8')).toBe(
    over.replace('false', 'true'),
  )
})

test('with a changed setting a start makes the container anew, it alone; without, it is started as it is', async () => {
  const container = await recorded('stopped', ({ Config }) => (Config.Env = ['A=false']))
  const world = await composeWorld(
    { containers: [container, await recorded('autoheal')] },
    { 'project/docker-compose.yml': fileOf('environment:\n  A: "false"\n') },
  )
  const control = await (await world.open()).control()
  const wait = { timeoutMs: 5000 }
  await control.start(wait)
  await control.stop(wait)
  await control.writeSetting(set('true'))
  await control.start(wait)
  const folder = join(world.folder, 'project')
  const changing = world.asked.filter((it) => /^(start|stop) | up /.test(it))
  expect(changing).toEqual([
    `start ${container.Id}`,
    `stop -t 4 ${container.Id}`,
    `compose --project-name testops --project-directory ${folder} --file ${folder}/docker-compose.yml up ` +
      '--detach --no-deps --no-build testops',
  ])
})

test.each([
  { policy: 'always', words: '--pull missing ' },
  { policy: 'daily', words: '--pull missing ' },
  { policy: 'missing', words: '' },
  { policy: 'never', words: '' },
  { policy: 'always', upHelp: '    --no-build                 Do not build an image\n', words: '' },
  {
    policy: 'always',
    upHelp:
      '  --pull                pull images before starting\n  --pull-always         pull always, "missing" or not\n',
    words: '',
  },
])(
  'with pull_policy $policy, a start with a changed setting fetches no newer image, where its compose program ' +
    'can be told so',
  async ({ policy, upHelp, words }) => {
    const container = await recorded('stopped', ({ Config }) => (Config.Env = ['A=false']))
    const world = await composeWorld(
      { containers: [container], ...(upHelp !== undefined && { upHelp }) },
      { 'project/docker-compose.yml': fileOf(`pull_policy: ${policy}\nenvironment:\n  A: "false"\n`) },
    )
    const control = await (await world.open()).control()
    await control.writeSetting(set('true'))
    await control.start({ timeoutMs: 5000 })
    expect(world.asked.find((it) => it.includes(' up --detach'))?.replace(/.* up /, '')).toBe(
      `--detach --no-deps --no-build ${words}testops`,
    )
  },
)

describe('podman-compose', () => {
  const onPodman = async (state: Parameters<typeof composeWorld>[0]): ReturnType<typeof composeWorld> => {
    const container = await recorded('stopped', ({ Config }) => (Config.Env = ['A=false']))
    const world = await composeWorld(
      { containers: [container], composeVersion: 'podman-compose version 1.6.0\n', ...state },
      { 'project/docker-compose.yml': fileOf('environment:\n  A: "false"\n') },
    )
    await rename(join(world.folder, 'bin/docker'), join(world.folder, 'bin/podman'))
    return world
  }

  test('knows no --project-directory', async () => {
    const world = await onPodman({})
    const control = await (await world.open()).control()
    await control.writeSetting(set('true'))
    await control.start({ timeoutMs: 10_000 })
    const composed = world.asked.filter((it) => it.startsWith('compose ') && it !== 'compose version')
    expect([composed.at(-1), composed.filter((it) => it.includes('--project-directory'))]).toEqual([
      `compose --project-name testops --file ${world.folder}/project/docker-compose.yml up --detach --no-deps ` +
        '--no-build testops',
      [],
    ])
  })

  test('writes out what the name of an image leaves out', async () => {
    const image = 'localhost/testops:527u01'
    const container = await recorded('stopped', ({ Config }) =>
      Object.assign(Config, { Image: image, Env: ['A=false'] }),
    )
    const world = await onPodman({ containers: [container] })
    const file = join(world.folder, 'project/docker-compose.yml')
    await writeFile(file, (await readFile(file, 'utf8')).replace(/image: .*/, 'image: testops:527u01'))
    expect(await (await (await world.open()).control()).writeSetting(set('true'))).toBe('set')
    expect(await readFile(file, 'utf8')).toContain('A: "true"')
  })

  test(
    'of a version that tells nothing of its files, ' +
      'the container is stopped and started, and settings are left alone',
    async () => {
      const world = await onPodman({ withoutConfig: true })
      const control = await (await world.open()).control()
      expect((await control.start({ timeoutMs: 10_000 })).state).toBe('running')
      await expect(control.trySetting(set('true'))).rejects.toThrow(
        'the installed podman-compose has no command `config`: install a version that has it, such as 1.3.0',
      )
    },
  )
})
