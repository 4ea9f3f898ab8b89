import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { SettingChange } from '../../../src/core/controls.ts'
import { composeWorld, recorded } from './world.ts'

const image = 'registry.example.org/qameta/testops:26.2.1'

interface Case {
  /** below the service */
  service: string
  files?: Record<string, string>
  top?: string
  change: SettingChange
  /** the file that is written, by what it holds then; or why it is refused */
  after: Record<string, string> | string
}

const fileOf = (service: string, top = ''): string => `${top}services:\n  testops:\n    image: ${image}\n${service.replace(/^(?=.)/gm, '    ')}`

async function setIn({ service, files = {}, top, change }: Case): Promise<Record<string, string> | string> {
  const before: Record<string, string> = { 'project/docker-compose.yml': fileOf(service, top), ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`project/${name}`, text])) }
  const world = await composeWorld({ containers: [await recorded('stopped')] }, before)
  const control = await (await world.open()).control()
  const answer = async (ask: Promise<string>): Promise<string> => ask.catch((error: Error) => error.message.replaceAll(world.folder, ''))
  const tried = await answer(control.trySetting(change))
  const now = async (): Promise<Record<string, string>> =>
    Object.fromEntries<string>(await Promise.all(Object.keys(before).map(async (name) => [name.slice('project/'.length), await readFile(join(world.folder, name), 'utf8').catch(() => '')] as const)))
  const untouched = await now()
  expect(untouched).toEqual(Object.fromEntries(Object.entries(before).map(([name, text]) => [name.slice('project/'.length), text])))
  const written = await answer(control.writeSetting(change))
  expect(tried).toBe(written)
  const changed = Object.entries(await now()).filter(([name, text]) => untouched[name] !== text)
  return written === 'set' && changed.length > 0 ? Object.fromEntries(changed) : written
}

const set = (to: string | null, from: string | null = 'false'): SettingChange => ({ name: 'A', from, to })

describe('is written where it stands', () => {
  test.each<[string, Case]>([
    ['in a map', { service: 'environment:\n  # why\n  A: "false" # c\n  B: c\n', change: set('true'), after: { 'docker-compose.yml': fileOf('environment:\n  # why\n  A: "true" # c\n  B: c\n') } }],
    ['in a list', { service: 'environment:\n  - B=c\n  - A=false # c\n', change: set('true'), after: { 'docker-compose.yml': fileOf('environment:\n  - B=c\n  - "A=true" # c\n') } }],
    ['in a list, in quotes', { service: 'environment:\n  - "A=false"\n', change: set('true'), after: { 'docker-compose.yml': fileOf('environment:\n  - "A=true"\n') } }],
    ['in a list on one line', { service: 'environment: ["A=false", "B=c"]\n', change: set('true'), after: { 'docker-compose.yml': fileOf('environment: ["A=true", "B=c"]\n') } }],
    ['with a sign that is not to be interpolated', { service: 'environment:\n  A: "false"\n', change: set('a$b'), after: { 'docker-compose.yml': fileOf('environment:\n  A: "a$$b"\n') } }],
    ['in .env, where it comes from there', { service: 'environment:\n  A: ${X}\n', files: { '.env': '# x\nX=false\nY=1\n' }, change: set('true'), after: { '.env': '# x\nX=true\nY=1\n' } }],
    ['in .env, before a comment', { service: 'environment:\n  A: ${X}\n', files: { '.env': 'X=1 # old\r\nX="false"  # why\r\nY=1 # y' }, change: set('two words'), after: { '.env': 'X=1 # old\r\nX="two words"  # why\r\nY=1 # y' } }],
    ['in .env above its default', { service: 'environment:\n  A: ${X:-false}\n', files: { '.env': 'Y=1' }, change: set('true'), after: { '.env': 'Y=1\nX=true\n' } }],
    ['in .env, for a list', { service: 'environment:\n  - A=$X\n', files: { '.env': 'X=false\n' }, change: set('true'), after: { '.env': 'X=true\n' } }],
    ['in a file of settings, before a comment', { service: 'env_file: [own.env]\n', files: { 'own.env': 'A=false # why\n' }, change: set('true'), after: { 'own.env': 'A=true # why\n' } }],
    ['in a file of settings', { service: 'env_file: [own.env]\n', files: { 'own.env': 'B=c\nA=false\n' }, change: set('true'), after: { 'own.env': 'B=c\nA=true\n' } }],
  ])('%s', async (_, it) => expect(await setIn(it)).toEqual(it.after))
})

describe('is added', () => {
  test.each<[string, Case]>([
    ['to a map', { service: 'environment:\n  B: c\n', change: set('true', null), after: { 'docker-compose.yml': fileOf('environment:\n  B: c\n  A: "true"\n') } }],
    ['to a list', { service: 'environment:\n  - B=c\n  # last\n', change: set('true', null), after: { 'docker-compose.yml': fileOf('environment:\n  - B=c\n  - "A=true"\n  # last\n') } }],
    ['to a list with Windows line ends', { service: 'environment:\r\n  - B=c\r\n', change: set('true', null), after: { 'docker-compose.yml': fileOf('environment:\r\n  - B=c\r\n  - "A=true"\r\n') } }],
    ['to a service without any', { service: 'restart: always\n', change: set('true', null), after: { 'docker-compose.yml': fileOf('restart: always\nenvironment:\n  A: "true"\n') } }],
  ])('%s', async (_, it) => expect(await setIn(it)).toEqual(it.after))
})

describe('is removed', () => {
  test.each<[string, Case]>([
    ['from a map', { service: 'environment:\n  A: "false"\n  B: c\n', change: set(null), after: { 'docker-compose.yml': fileOf('environment:\n  B: c\n') } }],
    ['from a list', { service: 'environment:\n  - A=false\n  - B=c\n', change: set(null), after: { 'docker-compose.yml': fileOf('environment:\n  - B=c\n') } }],
    ['from a list on one line', { service: 'environment: [A=false, B=c]\n', change: set(null), after: { 'docker-compose.yml': fileOf('environment: [B=c]\n') } }],
    ['with what it comes from left as it is', { service: 'environment:\n  A: ${X}\n  B: c\n', files: { '.env': 'X=false\n' }, change: set(null), after: { 'docker-compose.yml': fileOf('environment:\n  B: c\n') } }],
  ])('%s', async (_, it) => expect(await setIn(it)).toEqual(it.after))
})

describe('is not touched', () => {
  test.each<[string, Case]>([
    ['where it is so already', { service: 'environment:\n  A: "true"\n', change: set('true'), after: 'set' }],
    ['where somebody else has changed it', { service: 'environment:\n  A: "no"\n', change: set('true'), after: 'changed' }],
    ['where it is put together', { service: 'environment:\n  A: x${X}\n', files: { '.env': 'X=1\n' }, change: set('true', 'x1'), after: 'A cannot be set: its value in /project/docker-compose.yml is put together of several parts' }],
    ['where another comes from the same', { service: 'environment:\n  A: ${X}\n  B: ${X}\n', files: { '.env': 'X=false\n' }, change: set('true'), after: 'A cannot be set in /project/.env: it would change services.testops.environment.B too' }],
    ['behind an anchor that is used elsewhere', { top: 'x-env: &e\n  A: "false"\n', service: 'environment: *e\n', change: set('true'), after: 'A cannot be set in /project/docker-compose.yml:6: services.testops.environment is the alias *e, and what it stands for is used elsewhere too' }],
    ['in two files of settings', { service: 'env_file: [a.env, b.env]\n', files: { 'a.env': 'A=1\n', 'b.env': 'A=false\n' }, change: set('true'), after: 'A cannot be set: it is set in several files: /project/a.env, /project/b.env' }],
    ['in a file of settings, with blanks', { service: 'env_file: own.env\n', files: { 'own.env': 'A=false\n' }, change: set('a b'), after: 'A cannot be set: /project/own.env has it, in which a value with blanks or quotes is read differently by different versions' }],
    ['by a name that is none', { service: 'environment: {}\n', change: { name: 'A-B', from: null, to: 'x' }, after: "'A-B' is no name of a setting: letters, digits and _" }],
    ['with a line end', { service: 'environment: {}\n', change: set('a\nb', null), after: "the value of A holds control characters or a line's end" }],
  ])('%s', async (_, it) => expect(await setIn(it)).toEqual(it.after))

  test('where its container would get another image with it', async () => {
    const world = await composeWorld({ containers: [await recorded('stopped')] }, { 'project/docker-compose.yml': fileOf('environment: {}\n').replace('26.2.1', '26.3.1') })
    const control = await (await world.open()).control()
    await expect(control.writeSetting(set('true', null))).rejects.toThrow(
      `the compose file names the image ${image.replace('26.2.1', '26.3.1')}, and the container testops has ${image}: it would be changed with the setting`,
    )
  })

  test('where the shell sets what it comes from', async () => {
    const world = await composeWorld({ containers: [await recorded('stopped')] }, { 'project/docker-compose.yml': fileOf('environment:\n  A: ${X}\n'), 'project/.env': 'X=1\n' })
    Object.assign(world.options.environment ?? {}, { X: 'false' })
    const control = await (await world.open()).control()
    await expect(control.writeSetting(set('true'))).rejects.toThrow('A cannot be set: it comes from X, which this shell sets itself')
  })

  test('where the files are elsewhere', async () => {
    const world = await composeWorld({ containers: [await recorded('stopped')] }, {})
    const control = await (await world.open()).control()
    await expect(control.trySetting(set('true', null))).rejects.toThrow('A cannot be set: the compose files of project testops are not on this machine, or may not be read by this user')
  })
})

test('the last of several files that has it is written', async () => {
  const over = `services:\n  testops:\n    environment:\n      A: "false"\n`
  const world = await composeWorld({}, { 'project/compose.yaml': fileOf('environment:\n  A: "1"\n'), 'project/compose.override.yaml': over })
  const control = await (await world.open({ folder: join(world.folder, 'project') })).control()
  expect(await control.writeSetting(set('true'))).toBe('set')
  expect(await readFile(join(world.folder, 'project/compose.override.yaml'), 'utf8')).toBe(over.replace('false', 'true'))
})

test('with a changed setting a start makes the container anew, it alone; without, it is started as it is', async () => {
  const container = await recorded('stopped', ({ Config }) => (Config.Env = ['A=false']))
  const world = await composeWorld({ containers: [container, await recorded('autoheal')] }, { 'project/docker-compose.yml': fileOf('environment:\n  A: "false"\n') })
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
    `compose --project-name testops --project-directory ${folder} --file ${folder}/docker-compose.yml up --detach --no-deps --no-build testops`,
  ])
})

describe('podman-compose', () => {
  const onPodman = async (state: Parameters<typeof composeWorld>[0]): ReturnType<typeof composeWorld> => {
    const container = await recorded('stopped', ({ Config }) => (Config.Env = ['A=false']))
    const world = await composeWorld({ containers: [container], composeVersion: 'podman-compose version 1.6.0\n', ...state }, { 'project/docker-compose.yml': fileOf('environment:\n  A: "false"\n') })
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
      `compose --project-name testops --file ${world.folder}/project/docker-compose.yml up --detach --no-deps --no-build testops`,
      [],
    ])
  })

  test('writes out what the name of an image leaves out', async () => {
    const image = 'localhost/testops:527u01'
    const container = await recorded('stopped', ({ Config }) => Object.assign(Config, { Image: image, Env: ['A=false'] }))
    const world = await onPodman({ containers: [container] })
    const file = join(world.folder, 'project/docker-compose.yml')
    await writeFile(file, (await readFile(file, 'utf8')).replace(/image: .*/, 'image: testops:527u01'))
    expect(await (await (await world.open()).control()).writeSetting(set('true'))).toBe('set')
    expect(await readFile(file, 'utf8')).toContain('A: "true"')
  })

  test('of a version that tells nothing of its files, the container is stopped and started, and settings are left alone', async () => {
    const world = await onPodman({ withoutConfig: true })
    const control = await (await world.open()).control()
    expect((await control.start({ timeoutMs: 10_000 })).state).toBe('running')
    await expect(control.trySetting(set('true'))).rejects.toThrow('this podman-compose has no `config`, by which it would say what the files declare: 1.0.3 lacks it, 1.3.0 has it')
  })
})
