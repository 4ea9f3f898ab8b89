import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { debianMirror } from '../../../src/lab/servers/packages/debian.ts'
import { cached } from '../../../src/lab/servers/packages/cache.ts'
import { removeOtherPlugins } from '../../../src/lab/servers/packages/index.ts'
import { silent, temporaryFolder } from './own-servers.ts'

describe("the mirror comes from the machine's own apt configuration", () => {
  const another = 'deb [arch=amd64] https://repo.example.org/node bookworm main\n'
  test.each([
    [
      'one line',
      { 'sources.list': `${another}deb http://m.example.org/debian bookworm main contrib\n` },
      'http://m.example.org/debian',
    ],
    [
      'behind an option',
      { 'sources.list': 'deb [trusted=yes] http://m.example.org/debian/ trixie main\n' },
      'http://m.example.org/debian/',
    ],
    [
      'security first',
      {
        'sources.list':
          'deb http://m.example.org/debian-security stable main\ndeb http://m.example.org/debian stable main\n',
      },
      'http://m.example.org/debian',
    ],
    [
      'stanzas',
      {
        'sources.list.d/debian.sources':
          'Types: deb deb-src\nEnabled: no\nURIs: http://off.example.org/debian\nSuites: trixie\nComponents: main\n\n' +
          '# the mirror\nTypes: deb\nURIs:\n http://m.example.org/debian\nSuites: trixie ' +
          'trixie-updates\nComponents: main non-free\n',
      },
      'http://m.example.org/debian',
    ],
    ['of another distribution', { 'sources.list': 'deb http://archive.example.org/ubuntu noble main\n' }, undefined],
    ['nothing at all', {}, undefined],
  ])('%s', async (_title, files, uri) => {
    const folder = await temporaryFolder()
    await mkdir(join(folder, 'sources.list.d'))
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
    expect((await debianMirror(folder))?.uri).toBe(uri)
  })
})

describe('the cache', () => {
  test('is filled once, however many want it at once', async () => {
    const cache = await temporaryFolder()
    let made = 0
    const make = async (temporary: string) => {
      made += 1
      await writeFile(join(temporary, 'file'), 'text')
    }
    const folders = await Promise.all([1, 2, 3].map(() => cached(cache, 'thing', make, silent)))
    expect([...new Set(folders)]).toEqual([join(cache, 'thing')])
    expect(made).toBe(1)
    expect(await readFile(join(cache, 'thing/file'), 'utf8')).toBe('text')
  })

  test('holds nothing of a try that failed or was killed', async () => {
    const cache = await temporaryFolder()
    await mkdir(join(cache, 'thing.12345.part'))
    const failing = async (temporary: string) => {
      await writeFile(join(temporary, 'file'), 'half')
      throw new Error('no network')
    }
    await expect(cached(cache, 'thing', failing, silent)).rejects.toThrow('no network')
    expect(await readdir(cache)).toEqual([])
  })
})

describe('of the plugins of a broker', () => {
  const applications: Readonly<Record<string, string>> = {
    'rabbit-4.3.6': "{applications, [kernel, % the lists [1]\n  'ra',\n  rabbit_common]}",
    'rabbit_common-4.3.6': '{applications,[stdlib,rabbit]}',
    'ra-2.2.0': '{optional_applications, [aten]},\n{applications, []}',
    'aten-0.6.0-rc.1':
      '{applications, [kernel]},{env,[{applications,[]}]},{description, "5% [x"},{included_applications,[seshat]}',
    'seshat-1.0.1': '{applications, []}',
    'rabbitmq_management-4.3.6': '{applications, [rabbit,cowboy]}',
    'cowboy-2.8.0': '{applications, [kernel]}',
    'rabbitmq_mqtt-4.3.6': '{applications, [rabbit,jose]}',
    'jose-1.11.1': '{applications, [kernel]}',
  }
  const plugins = async (changed: Readonly<Record<string, string>> = {}): Promise<string> => {
    const folder = await temporaryFolder()
    for (const [name, text] of Object.entries({ ...applications, ...changed })) {
      await mkdir(join(folder, name, 'ebin'), { recursive: true })
      await writeFile(join(folder, name, 'ebin', `${name.replace(/-.*/, '')}.app`), text)
    }
    await writeFile(join(folder, 'README'), '')
    await mkdir(join(folder, 'unknown'))
    return folder
  }

  test('those stay that it and the named ones need, and what is no plugin', async () => {
    const folder = await plugins()
    await removeOtherPlugins(folder, ['rabbitmq_management'])
    const { 'rabbitmq_mqtt-4.3.6': _, 'jose-1.11.1': __, ...kept } = applications
    expect((await readdir(folder)).toSorted()).toEqual([...Object.keys(kept), 'README', 'unknown'].toSorted())
  })

  test.each([
    ['it is not known what one needs', { 'jose-1.11.1': '{application, jose}' }, ['rabbitmq_management']],
    ['a named one is missing', {}, ['rabbitmq_shovel']],
    [
      'a list is not read to its end',
      { 'jose-1.11.1': '{application, jose, [{applications, [kernel]}, {included_applications, [crypto|[base64]]}]}.' },
      ['rabbitmq_management'],
    ],
  ])('all stay if %s', async (_, changed, named) => {
    const folder = await plugins(changed)
    await removeOtherPlugins(folder, named)
    expect((await readdir(folder)).toSorted()).toEqual([...Object.keys(applications), 'README', 'unknown'].toSorted())
  })

  test('all stay if one folder has two', async () => {
    const folder = await plugins()
    await writeFile(join(folder, 'rabbitmq_mqtt-4.3.6/ebin/other.app'), '{applications, []}')
    await removeOtherPlugins(folder, ['rabbitmq_management'])
    expect(await readdir(folder)).toContain('jose-1.11.1')
  })
})
