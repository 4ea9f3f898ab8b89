import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { SettingChange } from '../../src/core/controls.ts'
import { composeWorld, recorded } from '../platforms/compose/world.ts'

const image = 'registry.example.org/qameta/testops:26.2.1'

interface Case {
  /** of the project, by their paths below it */
  files: Record<string, string>
  change: SettingChange
  /** the file that is written, by what it holds then; or why it is refused */
  after: Record<string, string> | string
}

/** A project whose one file has that below the service. */
const alone = (more: string, top = ''): Record<string, string> => ({ 'docker-compose.yml': fileOf(more, { top }) })
const fileOf = (more: string, { name = 'testops', top = '' } = {}): string =>
  `${top}services:\n  ${name}:\n    image: ${image}\n${more.replace(/^(?=.)/gm, '    ')}`
const set = (to: string | null, from: string | null = 'false'): SettingChange => ({ name: 'A', from, to })
const own = 'environment:\n  A: "false"\n'
const main = 'include:\n  - app/compose.yml\n'
const extending = (more = ''): string =>
  `services:\n  testops:\n    extends: {file: common/base.yml, service: base}\n${more}`
const chained = (more = ''): string =>
  `services:\n  middle:\n    extends: {file: common/base.yml, service: base}\n  testops:\n    extends: ` +
  `{service: middle}\n${more}`

type Row = [name: string, it: Case]

/**
 * Where a setting is written in files of every layout, as the compose program understands them. `program`: a real one,
 * by its path; null: the fake. `taken`: those of each table's rows that are run.
 */
export function composeFilesContract(program: string | null, taken: (rows: readonly Row[]) => Row[]): void {
  const each =
    (rows: readonly Row[]) =>
    (title: string, run: (name: string, it: Case) => Promise<void>): void =>
      test.each(taken(rows))(title, run)
  const setIn = async ({ files, change }: Case): Promise<Record<string, string> | string> => {
    const world = await composeWorld(
      { containers: [await recorded('stopped')], ...(program !== null && { composeProgram: program }) },
      Object.fromEntries(Object.entries(files).map(([name, text]) => [`project/${name}`, text])),
    )
    const control = await (await world.open()).control()
    const answer = async (ask: Promise<string>): Promise<string> =>
      ask.catch((error: Error) => error.message.replaceAll(world.folder, ''))
    const now = async (): Promise<Record<string, string>> =>
      Object.fromEntries(
        await Promise.all(
          Object.keys(files).map(
            async (name) => [name, await readFile(join(world.folder, 'project', name), 'utf8')] as const,
          ),
        ),
      )
    const tried = await answer(control.trySetting(change))
    expect(await now()).toEqual(files)
    const written = await answer(control.writeSetting(change))
    expect(tried).toBe(written)
    const changed = Object.entries(await now()).filter(([name, text]) => files[name] !== text)
    return written === 'set' && changed.length > 0
      ? Object.fromEntries(changed)
      : [written, ...changed.map(([name]) => name)].join(' ')
  }

  describe('is written where it stands', () => {
    each([
      [
        'in a map',
        {
          files: alone('environment:\n  # why\n  A: "false" # c\n  B: c\n'),
          change: set('true'),
          after: { 'docker-compose.yml': fileOf('environment:\n  # why\n  A: "true" # c\n  B: c\n') },
        },
      ],
      [
        'in a list',
        {
          files: alone('environment:\n  - B=c\n  - A=false # c\n'),
          change: set('true'),
          after: { 'docker-compose.yml': fileOf('environment:\n  - B=c\n  - "A=true" # c\n') },
        },
      ],
      [
        'in a list, in quotes',
        {
          files: alone('environment:\n  - "A=false"\n'),
          change: set('true'),
          after: { 'docker-compose.yml': fileOf('environment:\n  - "A=true"\n') },
        },
      ],
      [
        'in a list on one line',
        {
          files: alone('environment: ["A=false", "B=c"]\n'),
          change: set('true'),
          after: { 'docker-compose.yml': fileOf('environment: ["A=true", "B=c"]\n') },
        },
      ],
      [
        'with a sign that is not to be interpolated',
        {
          files: alone('environment:\n  A: "false"\n'),
          change: set('a$b'),
          after: { 'docker-compose.yml': fileOf('environment:\n  A: "a$$b"\n') },
        },
      ],
      [
        'in .env, where it comes from there',
        {
          files: { ...alone('environment:\n  A: ${X}\n'), '.env': '# x\nX=false\nY=1\n' },
          change: set('true'),
          after: { '.env': '# x\nX=true\nY=1\n' },
        },
      ],
      [
        'in .env, before a comment',
        {
          files: { ...alone('environment:\n  A: ${X}\n'), '.env': 'X=1 # old\r\nX="false"  # why\r\nY=1 # y' },
          change: set('two words'),
          after: { '.env': 'X=1 # old\r\nX="two words"  # why\r\nY=1 # y' },
        },
      ],
      [
        'in .env above its default',
        {
          files: { ...alone('environment:\n  A: ${X:-false}\n'), '.env': 'Y=1' },
          change: set('true'),
          after: { '.env': 'Y=1\nX=true\n' },
        },
      ],
      [
        'in .env, for a list',
        {
          files: { ...alone('environment:\n  - A=$X\n'), '.env': 'X=false\n' },
          change: set('true'),
          after: { '.env': 'X=true\n' },
        },
      ],
      [
        'in a file of settings, before a comment',
        {
          files: { ...alone('env_file: [own.env]\n'), 'own.env': 'A=false # why\n' },
          change: set('true'),
          after: { 'own.env': 'A=true # why\n' },
        },
      ],
      [
        'in a file of settings',
        {
          files: { ...alone('env_file: [own.env]\n'), 'own.env': 'B=c\nA=false\n' },
          change: set('true'),
          after: { 'own.env': 'B=c\nA=true\n' },
        },
      ],
    ])('%s', async (_, it) => expect(await setIn(it)).toEqual(it.after))
  })

  describe('is added', () => {
    each([
      [
        'to a map',
        {
          files: alone('environment:\n  B: c\n'),
          change: set('true', null),
          after: { 'docker-compose.yml': fileOf('environment:\n  B: c\n  A: "true"\n') },
        },
      ],
      [
        'to a list',
        {
          files: alone('environment:\n  - B=c\n  # last\n'),
          change: set('true', null),
          after: { 'docker-compose.yml': fileOf('environment:\n  - B=c\n  - "A=true"\n  # last\n') },
        },
      ],
      [
        'to a list with Windows line ends',
        {
          files: alone('environment:\r\n  - B=c\r\n'),
          change: set('true', null),
          after: { 'docker-compose.yml': fileOf('environment:\r\n  - B=c\r\n  - "A=true"\r\n') },
        },
      ],
      [
        'to a service without any',
        {
          files: alone('restart: always\n'),
          change: set('true', null),
          after: { 'docker-compose.yml': fileOf('restart: always\nenvironment:\n  A: "true"\n') },
        },
      ],
    ])('%s', async (_, it) => expect(await setIn(it)).toEqual(it.after))
  })

  describe('is removed', () => {
    each([
      [
        'from a map',
        {
          files: alone('environment:\n  A: "false"\n  B: c\n'),
          change: set(null),
          after: { 'docker-compose.yml': fileOf('environment:\n  B: c\n') },
        },
      ],
      [
        'from a list',
        {
          files: alone('environment:\n  - A=false\n  - B=c\n'),
          change: set(null),
          after: { 'docker-compose.yml': fileOf('environment:\n  - B=c\n') },
        },
      ],
      [
        'from a list on one line',
        {
          files: alone('environment: [A=false, B=c]\n'),
          change: set(null),
          after: { 'docker-compose.yml': fileOf('environment: [B=c]\n') },
        },
      ],
      [
        'with what it comes from left as it is',
        {
          files: { ...alone('environment:\n  A: ${X}\n  B: c\n'), '.env': 'X=false\n' },
          change: set(null),
          after: { 'docker-compose.yml': fileOf('environment:\n  B: c\n') },
        },
      ],
    ])('%s', async (_, it) => expect(await setIn(it)).toEqual(it.after))
  })

  describe('is not touched', () => {
    each([
      ['where it is so already', { files: alone('environment:\n  A: "true"\n'), change: set('true'), after: 'set' }],
      [
        'where somebody else has changed it',
        { files: alone('environment:\n  A: "no"\n'), change: set('true'), after: 'changed' },
      ],
      [
        'where it is put together',
        {
          files: { ...alone('environment:\n  A: x${X}\n'), '.env': 'X=1\n' },
          change: set('true', 'x1'),
          after:
            '`A` cannot be set: its value in /project/docker-compose.yml is an expression that testops-admin ' +
            'cannot change',
        },
      ],
      [
        'where another comes from the same',
        {
          files: { ...alone('environment:\n  A: ${X}\n  B: ${X}\n'), '.env': 'X=false\n' },
          change: set('true'),
          after: '`A` cannot be set in /project/.env: this would also change services.testops.environment.B',
        },
      ],
      [
        'behind an anchor that is used elsewhere',
        {
          files: alone('environment: *e\n', 'x-env: &e\n  A: "false"\n'),
          change: set('true'),
          after:
            '`A` cannot be set in /project/docker-compose.yml:6: services.testops.environment is the alias *e, ' +
            'whose value is also used elsewhere',
        },
      ],
      [
        'in two files of settings',
        {
          files: { ...alone('env_file: [a.env, b.env]\n'), 'a.env': 'A=1\n', 'b.env': 'A=false\n' },
          change: set('true'),
          after: '`A` cannot be set: it is set in several files: /project/a.env, /project/b.env',
        },
      ],
      [
        'in a file of settings, with blanks',
        {
          files: { ...alone('env_file: own.env\n'), 'own.env': 'A=false\n' },
          change: set('a b'),
          after:
            '`A` cannot be set: the new value contains spaces, quotes or other special characters, and compose ' +
            'versions differ in how they read these in /project/own.env',
        },
      ],
      [
        'by a name that is none',
        {
          files: alone('environment: {}\n'),
          change: { name: 'A-B', from: null, to: 'x' },
          after: '`A-B` is not a valid setting name: use letters, digits and `_`',
        },
      ],
      [
        'with a line end',
        {
          files: alone('environment: {}\n'),
          change: set('a\nb', null),
          after: 'the value of `A` contains control characters or a line break',
        },
      ],
    ])('%s', async (_, it) => expect(await setIn(it)).toEqual(it.after))
  })

  each([
    [
      'in a file that is included',
      {
        files: { 'docker-compose.yml': main, 'app/compose.yml': fileOf(own) },
        change: set('true'),
        after: { 'app/compose.yml': fileOf(own.replace('false', 'true')) },
      },
    ],
    [
      'in one that such a file includes, by its long form',
      {
        files: {
          'docker-compose.yml': main,
          'app/compose.yml': 'include:\n  - path: [a.yml, b.yml]\n    project_directory: ..\n',
          'app/a.yml': fileOf(own),
          'app/b.yml': 'services: {testops: {restart: always}}\n',
        },
        change: set('true'),
        after: { 'app/a.yml': fileOf(own.replace('false', 'true')) },
      },
    ],
    [
      'in .env, for a file that is included',
      {
        files: {
          'docker-compose.yml': main,
          'app/compose.yml': fileOf('environment:\n  A: ${X}\n'),
          '.env': 'X=false\n',
        },
        change: set('true'),
        after: { '.env': 'X=true\n' },
      },
    ],
    [
      'in a file that is included, where nothing has it yet',
      {
        files: { 'docker-compose.yml': main, 'app/compose.yml': fileOf('restart: always\n') },
        change: set('true', null),
        after: { 'app/compose.yml': fileOf('restart: always\nenvironment:\n  A: "true"\n') },
      },
    ],
    [
      'of its own, above what it extends',
      {
        files: { 'docker-compose.yml': extending(), 'common/base.yml': fileOf(own, { name: 'base' }) },
        change: set('true'),
        after: { 'docker-compose.yml': extending('    environment:\n      A: "true"\n') },
      },
    ],
    [
      'of its own, above what that extends in turn',
      {
        files: { 'docker-compose.yml': chained(), 'common/base.yml': fileOf(own, { name: 'base' }) },
        change: set('true'),
        after: { 'docker-compose.yml': chained('    environment:\n      A: "true"\n') },
      },
    ],
    [
      'in .env, for what it extends',
      {
        files: {
          'docker-compose.yml': extending(),
          'common/base.yml': fileOf('environment: [A=$X]\n', { name: 'base' }),
          '.env': 'X=false\n',
        },
        change: set('true'),
        after: { '.env': 'X=true\n' },
      },
    ],
    [
      'in a file of settings of what it extends',
      {
        files: {
          'docker-compose.yml': extending(),
          'common/base.yml': fileOf('env_file:\n  - path: own.env\n    required: false\n', { name: 'base' }),
          'common/own.env': 'A=false\n',
        },
        change: set('true'),
        after: { 'common/own.env': 'A=true\n' },
      },
    ],
    [
      'where a merge leaves it to be',
      {
        files: { 'docker-compose.yml': `x-env: &e\n  A: "false"\n${fileOf('environment:\n  <<: *e\n  B: c\n')}` },
        change: set('true'),
        after: {
          'docker-compose.yml': `x-env: &e\n  A: "false"\n${fileOf('environment:\n  <<: *e\n  B: c\n  A: "true"\n')}`,
        },
      },
    ],
    [
      'of a service that takes a profile to be there',
      {
        files: { 'docker-compose.yml': fileOf(`profiles: [prod]\n${own}`) },
        change: set('true'),
        after: { 'docker-compose.yml': fileOf(`profiles: [prod]\n${own.replace('false', 'true')}`) },
      },
    ],
    [
      'beside what compose resets',
      {
        files: { 'docker-compose.yml': fileOf(`ports: !reset []\n${own}`) },
        change: set('true'),
        after: { 'docker-compose.yml': fileOf(`ports: !reset []\n${own.replace('false', 'true')}`) },
      },
    ],
  ])('is written %s', async (_, it) => expect(await setIn(it)).toEqual(it.after))

  each([
    [
      'from what it extends',
      {
        files: { 'docker-compose.yml': extending(), 'common/base.yml': fileOf(own, { name: 'base' }) },
        change: set(null),
        after:
          '`A` cannot be set: its value comes from service `base` in /project/common/base.yml, which service ' +
          '`testops` extends, so testops-admin can change the value, but cannot remove it',
      },
    ],
    [
      'by a variable that counts for what is included alone',
      {
        files: {
          'docker-compose.yml': main,
          'app/compose.yml': fileOf('environment:\n  A: ${X}\n'),
          'app/.env': 'X=false\n',
        },
        change: set('true'),
        after:
          '`A` cannot be set: its value comes from `X` in /project/app/.env: testops-admin does not change ' +
          'the variables of an included compose file',
      },
    ],
    [
      'in a file of settings that another service reads',
      {
        files: {
          'docker-compose.yml': `${fileOf('env_file: own.env\n')}  worker:\n    image: w:1\n    env_file: [own.env]\n`,
          'own.env': 'A=false\n',
        },
        change: set('true'),
        after: '`A` cannot be set: other services also read /project/own.env: worker',
      },
    ],
  ])('is left %s', async (_, it) => expect(await setIn(it)).toEqual(it.after))
}
