import { chmod, lstat, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { load, YAML11_SCHEMA } from 'js-yaml'
import { describe, expect, onTestFinished, test } from 'vitest'
import { filesControl, filesSource } from '../../src/adapters/settings-file/index.ts'
import { AdminError } from '../../src/core/error.ts'
import { valuesFiles } from './values-files.ts'

const source = filesSource()
const control = filesControl()
const name = ['image', 'imageName']

async function folder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'testops-admin-values-'))
  onTestFinished(async () => rm(directory, { recursive: true, force: true }))
  return directory
}

async function fileWith(text: string | Buffer): Promise<string> {
  const file = join(await folder(), 'values.yaml')
  await writeFile(file, text)
  return file
}

/** Code, message without the folder, and what is suggested. */
async function refusal(work: Promise<unknown>, file: string): Promise<string> {
  try {
    await work
    return 'none'
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
    return [`${error.code} ${error.message}`, ...error.suggestions].join(' | ').replaceAll(file, 'FILE')
  }
}

describe('what stands at a path', () => {
  const cases = [
    {
      what: 'a text',
      text: 'a: 1\nimage:\n  imageName: "testops" # c\n',
      look: { found: 2, isOpen: true, kind: 'single', text: 'testops', isText: true, line: 3 },
    },
    {
      what: 'a number, as it is written',
      text: 'image: {imageName: 5.30}',
      look: { found: 2, isOpen: true, kind: 'single', text: '5.30', isText: false, line: 1 },
    },
    {
      what: 'nothing',
      text: 'image:\n  imageName:\n',
      look: { found: 2, isOpen: true, kind: 'empty', text: null, isText: false, line: 2 },
    },
    {
      what: 'an alias',
      text: 'b: &v testops\nimage: {imageName: *v}\n',
      look: { found: 2, isOpen: true, kind: 'single', text: 'testops', isText: true, line: 2 },
    },
    {
      what: 'what a merge brings',
      text: 'b: &i {imageName: a}\nimage:\n  <<: *i\n',
      look: { found: 2, isOpen: true, kind: 'single', text: 'a', isText: true, line: 2 },
    },
    {
      what: 'a map above it',
      text: 'image:\n  tag: a\n',
      look: { found: 1, isOpen: true, kind: 'map', text: null, isText: false, line: 1 },
    },
    {
      what: 'a text above it',
      text: 'image: testops\n',
      look: { found: 1, isOpen: false, kind: 'single', text: null, isText: false, line: 1 },
    },
    {
      what: 'null above it',
      text: 'image: ~\n',
      look: { found: 1, isOpen: false, kind: 'empty', text: null, isText: false, line: 1 },
    },
    {
      what: 'nothing in an empty file',
      text: '',
      look: { found: 0, isOpen: true, kind: 'map', text: null, isText: false, line: null },
    },
    {
      what: 'nothing in a file of comments',
      text: '\ufeff# c\r\n---\r\n',
      look: { found: 0, isOpen: true, kind: 'map', text: null, isText: false, line: null },
    },
    {
      what: 'nothing in a list',
      text: '- a\n',
      look: { found: 0, isOpen: false, kind: 'list', text: null, isText: false, line: null },
    },
  ]
  test.each(cases)('$what', async ({ text, look }) => {
    expect(await source.look(await fileWith(text), name)).toEqual(look)
  })
  test('keys, and none where there is no map', async () => {
    const file = await fileWith('services:\n  a: {image: x}\n  b: 1\n')
    expect([
      await source.keys(file, ['services']),
      await source.keys(file, ['services', 'b']),
      await source.keys(file, ['x']),
    ]).toEqual([['a', 'b'], [], []])
  })
})

describe('what is not edited', () => {
  const cases: { what: string; text: string | Buffer; said: string }[] = [
    {
      what: 'tabs',
      text: 'image:\n\timageName: a\n',
      said:
        'REFUSED FILE line 2 cannot be edited safely: tab characters must not be used in indentation | sed -n 2p ' +
        'FILE',
    },
    {
      what: 'a key twice',
      text: 'image: {}\nimage: {}\n',
      said: 'REFUSED FILE line 2 cannot be edited safely: the key `image` appears twice | sed -n 2p FILE',
    },
    {
      what: 'two documents',
      text: 'a: 1\n---\nb: 1\n',
      said:
        'REFUSED FILE line 2 cannot be edited safely: expected a single document in the stream, but found more | ' +
        'sed -n 2p FILE',
    },
    {
      what: 'a template',
      text: 'a: 1\nimage:\n  imageName: {{ .x }}\n',
      said:
        'REFUSED FILE line 3 cannot be edited safely: the line is part of a template, so its values are unknown ' +
        'until the template is rendered | sed -n 3p FILE',
    },
    {
      what: 'a template around keys',
      text: '{{- if .x }}\na: 1\n{{- end }}\n',
      said:
        'REFUSED FILE line 1 cannot be edited safely: the line is part of a template, so its values are unknown ' +
        'until the template is rendered | sed -n 1p FILE',
    },
    {
      what: 'a template in quotes',
      text: 'image:\n  imageName: "{{ .x }}"\n',
      said:
        'REFUSED FILE line 2 cannot be edited safely: image.imageName is a template, so its value is unknown ' +
        'until the template is rendered | sed -n 2p FILE',
    },
    {
      what: 'a text in place of the map',
      text: 'a: 1\nimage: testops\n',
      said: 'REFUSED FILE line 2 cannot be edited safely: image is a single value, not a map | sed -n 2p FILE',
    },
    {
      what: 'a map in place of the text',
      text: 'image:\n  imageName: {a: 1}\n',
      said: 'REFUSED FILE line 2 cannot be edited safely: image.imageName is a map | sed -n 2p FILE',
    },
    {
      what: 'SOPS by its key',
      text: 'image: {imageName: a}\nsops:\n  mac: x\n',
      said:
        'REFUSED FILE line 2 cannot be edited safely: SOPS has encrypted the file, and rejects it if it is changed ' +
        'without SOPS | sops FILE   # opens the file in an editor, then encrypts it again',
    },
    {
      what: 'SOPS by a value',
      text: 'a: ENC[AES256_GCM,data:x,type:str]\n',
      said:
        'REFUSED FILE line 1 cannot be edited safely: SOPS has encrypted the file, and rejects it if it is changed ' +
        'without SOPS | sops FILE   # opens the file in an editor, then encrypts it again',
    },
    {
      what: 'no UTF-8',
      text: Buffer.from([0x61, 0x3a, 0x20, 0xff, 0x0a]),
      said: 'REFUSED FILE cannot be edited safely: it is not UTF-8 | head -n 5 FILE',
    },
    {
      what: 'no YAML',
      text: 'a: [1\n',
      said: 'REFUSED FILE line 1 cannot be edited safely: deficient indentation | sed -n 1p FILE',
    },
    {
      what: 'a merge that YAML 1.1 refuses',
      text: 'a: &a\nb:\n  <<: *a\n',
      said: 'REFUSED FILE line 3 cannot be edited safely: `<<` merges something that is not a map | sed -n 3p FILE',
    },
    {
      what: 'keys that are one to YAML 1.1',
      text: 'image: {}\non: 1\ntrue: 2\n',
      said:
        'REFUSED FILE line 3 cannot be edited safely: in YAML 1.1, the key `true` is the same as an earlier key: ' +
        'put the key in quotes | sed -n 3p FILE',
    },
    {
      what: 'a tag that only YAML 1.1 has',
      text: 'a: 1\nb: !!binary aGk=\n',
      said: 'REFUSED FILE line 2 cannot be edited safely: the tag `!!binary` is unknown | sed -n 2p FILE',
    },
    {
      what: 'a key that YAML 1.1 takes for a time',
      text: 'a: 1\n2026-11-21T02:12:44Z: 1\n',
      said:
        'REFUSED FILE line 2 cannot be edited safely: YAML 1.1 reads this key as a date: put the key in quotes | ' +
        'sed -n 2p FILE',
    },
    {
      what: 'what is too large',
      text: `a: ${'x'.repeat(1_000_001)}\n`,
      said:
        'REFUSED FILE cannot be edited safely: the file is larger than 1 MB. Is it the right file? | ' +
        'head -n 5 FILE',
    },
  ]
  test.each(cases)('$what', async ({ text, said }) => {
    const file = await fileWith(text)
    const edits = [{ path: name, from: 'a', to: 'x', at: 0, was: '', is: '' }]
    const before = await readFile(file)
    expect(await refusal(source.edits(file, edits), file)).toBe(said)
    await refusal(control.apply(file, edits), file)
    expect((await readFile(file)).equals(before)).toBe(true)
  })
  test('what is missing, a folder, a device', async () => {
    const directory = await folder()
    const file = join(directory, 'none.yaml')
    expect(await refusal(source.look(file, name), file)).toBe('USAGE the file FILE is missing | ls -l FILE')
    expect(await refusal(source.look(directory, name), directory)).toBe('USAGE FILE is a folder | ls -l FILE')
    expect(await refusal(source.look('/dev/null', name), '/dev/null')).toBe(
      'USAGE FILE is not a regular file | ls -l FILE',
    )
  })
})

describe('an edit', () => {
  test('is made, keeps the mode, is found done, and is taken back to the byte', async () => {
    const text =
      '\ufeff# of prod\r\nversion: "526u03"\r\nimage:\r\n    # the name\r\n    registry: r\r\n\r\npassword: geheim'
    const file = await fileWith(text)
    await chmod(file, 0o640)
    const edits = await source.edits(file, [
      { path: name, to: 'testops-legacy' },
      { path: ['version'], to: '527u01' },
    ])
    expect(await control.try(file, edits)).toBe('set')
    expect(await readFile(file, 'utf8')).toBe(text)
    expect(await control.apply(file, edits)).toBe('set')
    const after = text
      .replace('526u03', '527u01')
      .replace('registry: r\r\n', 'registry: r\r\n    imageName: testops-legacy\r\n')
    expect(await readFile(file, 'utf8')).toBe(after)
    expect(await control.apply(file, edits)).toBe('set')
    expect(await readFile(file, 'utf8')).toBe(after)
    expect((await stat(file)).mode & 0o777).toBe(0o640)
    expect(JSON.stringify(edits)).not.toContain('geheim')
    expect(await control.takeBack(file, edits)).toBe('set')
    expect(await readFile(file, 'utf8')).toBe(text)
    expect(await control.takeBack(file, edits)).toBe('set')
    expect(await readdir(join(file, '..'))).toEqual(['values.yaml'])
  })

  test('is taken back beside what was changed meanwhile, and not where its own value was', async () => {
    const file = await fileWith('image:\n  imageName: testops # c\nb: 1\n')
    const edits = await source.edits(file, [
      { path: name, to: 'testops-legacy' },
      { path: ['version'], to: '527u01' },
    ])
    await control.apply(file, edits)
    await writeFile(file, `# new\nc: testops-legacy\n${await readFile(file, 'utf8')}d: 1\n`)
    expect(await control.tryBack(file, edits)).toBe('set')
    expect(await control.takeBack(file, edits)).toBe('set')
    expect(await readFile(file, 'utf8')).toBe(
      '# new\nc: testops-legacy\nimage:\n  imageName: testops # c\nb: 1\nd: 1\n',
    )
    await control.apply(file, edits)
    const other = (await readFile(file, 'utf8')).replace('527u01', '528u01')
    await writeFile(file, other)
    expect([
      await control.tryBack(file, edits),
      await control.takeBack(file, edits),
      await control.apply(file, edits),
    ]).toEqual(['changed', 'changed', 'changed'])
    expect(await readFile(file, 'utf8')).toBe(other)
  })

  test('of a removal comes back with its line', async () => {
    const text = 'env:\n  open:\n    A: "b" # c\n    B: c\n'
    const file = await fileWith(text)
    const edits = await source.edits(file, [{ path: ['env', 'open', 'A'], to: null }])
    await control.apply(file, edits)
    expect(await readFile(file, 'utf8')).toBe('env:\n  open:\n    B: c\n')
    await control.takeBack(file, edits)
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  test('keeps an image bare, with its variables', async () => {
    const file = await fileWith('services: \n  a:\n    image: ${R:-r/x}/testops:${V}\n')
    const edits = await source.edits(file, [{ path: ['services', 'a', 'image'], to: '${R:-r/x}/testops-legacy:${V}' }])
    await control.apply(file, edits)
    expect(await readFile(file, 'utf8')).toBe('services: \n  a:\n    image: ${R:-r/x}/testops-legacy:${V}\n')
  })

  test('of generated files is taken back to the byte, and changes nothing else', async () => {
    const file = await fileWith('')
    await fc.assert(
      fc.asyncProperty(valuesFiles, fc.constantFrom('testops-legacy', '527u01', 'true'), async ({ text, path }, to) => {
        await writeFile(file, text)
        const edits = await source.edits(file, [{ path, to }])
        expect(await control.apply(file, edits)).toBe('set')
        const after = await readFile(file, 'utf8')
        expect(load(after, { schema: YAML11_SCHEMA })).toMatchObject(nested(path, to))
        expect(await control.takeBack(file, edits)).toBe('set')
        expect(await readFile(file, 'utf8')).toBe(text)
      }),
      { numRuns: 200 },
    )
  }, 60_000)

  test('through a link is made in the file that it names', async () => {
    const file = await fileWith('image: {imageName: testops}\n')
    const link = join(file, '..', 'link.yaml')
    await symlink(file, link)
    const { placeOfFile } = await import('../../src/runtime/index.ts')
    const place = await placeOfFile('link.yaml', join(file, '..'))
    expect(place).toBe(file)
    await control.apply(place, await source.edits(place, [{ path: name, to: 'x' }]))
    expect([await readFile(link, 'utf8'), (await lstat(link)).isSymbolicLink()]).toEqual([
      'image: {imageName: x}\n',
      true,
    ])
  })

  test('is forbidden to a user who may not write the file', async () => {
    const file = await fileWith('image: {imageName: testops}\n')
    const edits = await source.edits(file, [{ path: name, to: 'x' }])
    await chmod(file, 0o444)
    await chmod(join(file, '..'), 0o555)
    onTestFinished(async () => chmod(join(file, '..'), 0o755))
    const said = await asNobody(async () => [
      await refusal(control.try(file, edits), file),
      await refusal(control.apply(file, edits), file),
    ])
    expect(said.map((it) => it.split(' | ')[0])).toEqual(
      Array(2).fill('FORBIDDEN FILE cannot be changed: this user has no permission to write the file or its folder'),
    )
    expect(await readFile(file, 'utf8')).toBe('image: {imageName: testops}\n')
  })
})

describe('the difference', () => {
  const cases = [
    {
      what: 'has the lines that change alone',
      text: 'password: a\nimage:\n  imageName: testops\nsecret: b\n',
      path: name,
      to: 'x',
      said: '-   imageName: testops\n+   imageName: x\n',
    },
    {
      what: 'has a part of a line where others stand on it',
      text: 'image: {password: a, imageName: testops, secret: b}\n',
      path: name,
      to: 'x',
      said: '- …imageName: testops…\n+ …imageName: x…\n',
    },
    {
      what: 'has what is added to such a line alone',
      text: 'image: {password: a}\n',
      path: name,
      to: 'x',
      said: '- …\n+ …imageName: x…\n',
    },
    {
      what: 'of a file without a final newline',
      text: 'password: a',
      path: ['version'],
      to: '1u1',
      said: '+ version: 1u1\n',
    },
    {
      what: 'with CR LF',
      text: 'image:\r\n  imageName: testops\r\n',
      path: name,
      to: 'x',
      said: '-   imageName: testops\n+   imageName: x\n',
    },
  ]
  test.each(cases)('$what', async ({ text, path, to, said }) => {
    const file = await fileWith(text)
    expect(await source.difference(file, await source.edits(file, [{ path, to }]))).toBe(said)
  })
})

test('a variable of .env beside the file', async () => {
  const file = await fileWith('services: {}\n')
  expect(await source.variable(file, 'V')).toBeNull()
  await writeFile(join(file, '..', '.env'), 'V=1\nW="527u01" \nV=2\r\n')
  expect([
    await source.variable(file, 'V'),
    await source.variable(file, 'W'),
    await source.variable(file, 'X'),
  ]).toEqual(['2', '527u01', null])
})

function nested([key = '', ...rest]: readonly string[], to: string): Record<string, unknown> {
  return { [key]: rest.length === 0 ? to : nested(rest, to) }
}

/** As another user where this one may do everything. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work()
  process.seteuid!(65_534)
  try {
    return await work()
  } finally {
    process.seteuid!(0)
  }
}
