import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import { mendedCopy } from '../../../src/results/fix/index.ts'
import type { Writers } from '../../../src/results/fix/index.ts'
import type { RuleId } from '../../../src/knowledge/result-rules.ts'
import { asNobody } from '../../support/as-nobody.ts'

let place: string
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'mended-copy-'))
})
afterEach(() => rmSync(place, { recursive: true, force: true }))

type Files = Record<string, string>
const write = (files: Files, under = 'from'): void => {
  mkdirSync(join(place, under), { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, under, name)), { recursive: true })
    writeFileSync(join(place, under, name), text)
  }
}
const read = (under = 'to'): Files => {
  const entries = readdirSync(join(place, under), { recursive: true, withFileTypes: true }).filter((it) => it.isFile())
  const files = entries.map((it) => join(it.parentPath, it.name)).sort()
  return Object.fromEntries(files.map((file) => [relative(join(place, under), file), readFileSync(file, 'utf8')]))
}
const copy = async (off: RuleId[] = [], signal = new AbortController().signal): ReturnType<typeof mendedCopy> =>
  mendedCopy({ from: join(place, 'from'), output: join(place, 'to'), off: new Set(off), writers, signal })
/** `ended` has ended, `other` is at work, and of all else nobody can tell */
const writers: Writers = {
  own: 'own',
  hasEnded: async (mark) => (['ended', 'other'].includes(mark) ? mark === 'ended' : null),
}
const naming = (...sources: string[]): string =>
  JSON.stringify({ attachments: sources.map((source) => ({ name: 'a', source })) })

describe('attachments go to the root', () => {
  test.each<[what: string, before: Files, after: Files]>([
    [
      'nothing to do',
      { 'a-result.json': naming('x.png'), 'x.png': '1', 'executor.json': '{}' },
      { 'a-result.json': naming('x.png'), 'executor.json': '{}', 'x.png': '1' },
    ],
    [
      'named by path',
      { 'a-result.json': naming('s/x.png'), 's/x.png': '1' },
      { 'a-result.json': naming('x.png'), 'x.png': '1' },
    ],
    [
      'named by two',
      { 'a-result.json': naming('s/x.png'), 'b-result.json': naming('./s/../s/x.png', 's\\x.png'), 's/x.png': '1' },
      { 'a-result.json': naming('x.png'), 'b-result.json': naming('x.png', 'x.png'), 'x.png': '1' },
    ],
    [
      'named by its name alone',
      { 'a-result.json': naming('x.png'), 's/t/x.png': '1' },
      { 'a-result.json': naming('x.png'), 'x.png': '1' },
    ],
    [
      'by a container',
      { 'a-container.json': JSON.stringify({ befores: [{ attachments: [{ source: 's/x.png' }] }] }), 's/x.png': '1' },
      { 'a-container.json': JSON.stringify({ befores: [{ attachments: [{ source: 'x.png' }] }] }), 'x.png': '1' },
    ],
    [
      'by a path to the root',
      { 'a-result.json': naming('build/results/x.png', './x.png'), 'x.png': '1' },
      { 'a-result.json': naming('x.png', 'x.png'), 'x.png': '1' },
    ],
    [
      'named by no one',
      { 'a-result.json': '{}', 's/x-attachment.png': '1', 's/notes.txt': '2' },
      { 'a-result.json': '{}', 's/notes.txt': '2', 'x-attachment.png': '1' },
    ],
    [
      'in a results directory of its own',
      { 'a-result.json': naming('s/x-attachment.png'), 's/b-result.json': '{}', 's/x-attachment.png': '1' },
      {
        'a-result.json': naming('x-attachment.png'),
        's/b-result.json': '{}',
        's/x-attachment.png': '1',
        'x-attachment.png': '1',
      },
    ],
    [
      'in the history of reports',
      { 'a-result.json': '{}', 'history/x-attachment.json': '1' },
      { 'a-result.json': '{}', 'history/x-attachment.json': '1' },
    ],
    [
      'not there',
      { 'a-result.json': naming('s/x.png', 'y.png', '../up.png', '/etc/hostname') },
      { 'a-result.json': naming('s/x.png', 'y.png', '../up.png', '/etc/hostname') },
    ],
    [
      'one of several of that name',
      { 'a-result.json': naming('x.png'), 's/x.png': '1', 't/x.png': '2' },
      { 'a-result.json': naming('x.png'), 's/x.png': '1', 't/x.png': '2' },
    ],
  ])('%s', async (_, before, after) => {
    write(before)
    await copy()
    expect(read()).toEqual(after)
    expect(read('from')).toEqual(before)
  })

  test.each(['x-attachment.png', 'b-result.json', 'executor.json'])(
    'a name that is taken or means something gets another: %s',
    async (name) => {
      write({
        'a-result.json': naming(`s/${name}`),
        [`s/${name}`]: 'nested',
        ...(name === 'x-attachment.png' && { [name]: 'root' }),
      })
      const { mended } = await copy()
      const { 'a-result.json': result, ...files } = read()
      const { source } = (JSON.parse(result!) as { attachments: { source: string }[] }).attachments[0]!
      expect(source).toMatch(/^[\da-f-]{36}-attachment\.(?:png|json)$/)
      expect(files[source]).toBe('nested')
      expect(mended).toEqual(new Map([['nested-attachment', 1]]))
    },
  )

  test('reasons and counts are told', async () => {
    write({
      'a-result.json': naming('s/x.png', 't/y.png', '../z.png', 'two.png'),
      's/x.png': '1',
      's/two.png': '',
      't/two.png': '',
    })
    const { left, ...rest } = await copy()
    expect(rest).toEqual({ files: 4, mended: new Map([['nested-attachment', 1]]), leftCount: 3, omitted: [] })
    expect(left.map(({ place, message }) => [place, message])).toEqual([
      ['attachments[1].source', 'the attachment refers to a missing file'],
      ['attachments[2].source', 'the attachment refers to a file outside the results directory'],
      [
        'attachments[3].source',
        'several files in subdirectories have the name two.png: cannot tell which of them is the attachment',
      ],
    ])
  })

  test('what rules that are off find is not mended', async () => {
    const before = {
      'a-result.json': JSON.stringify({ name: 'x'.repeat(300), attachments: [{ source: 's/x.png' }] }),
      's/x.png': '1',
    }
    write(before)
    await copy(['nested-attachment', 'long-field'])
    expect(read()).toEqual(before)
  })
})

test('the whole text of a field lies beside its result', async () => {
  write({ 'a-result.json': JSON.stringify({ name: 'x'.repeat(300) }) })
  const { mended } = await copy()
  const { 'a-result.json': result, ...files } = read()
  const { name, attachments } = JSON.parse(result!) as { name: string; attachments: { source: string }[] }
  expect([name.length, attachments.length, files]).toEqual([255, 1, { [attachments[0]!.source]: 'x'.repeat(300) }])
  expect(attachments[0]!.source).toMatch(/^[\da-f-]{36}-attachment\.txt$/)
  expect(mended).toEqual(new Map([['long-field', 1]]))
})

test('a copy of a copy is the same', async () => {
  const long = 'x'.repeat(300)
  write({
    'a-result.json': JSON.stringify({
      name: long,
      fullName: long,
      parameters: [{ name: 'p', value: long }],
      labels: [{ name: 'tag', value: long }],
      attachments: [{ source: 's/x.png' }],
    }),
    's/x.png': '1',
    's/y-attachment.txt': '2',
  })
  await copy()
  const { mended } = await mendedCopy({
    from: join(place, 'to'),
    output: join(place, 'again'),
    off: new Set(),
    writers,
    signal: new AbortController().signal,
  })
  expect([read('again'), mended]).toEqual([read('to'), new Map()])
})

test('bytes are kept, of names too', async () => {
  write({ 'a-result.json': '\ufeff{ "x": 1.0 }\r\n' })
  const odd = Buffer.concat([Buffer.from(`${place}/from/`), Buffer.from([0x78, 0xe9, 0xff])])
  writeFileSync(odd, Buffer.from([0, 255, 254]))
  await copy()
  expect(readFileSync(Buffer.concat([Buffer.from(`${place}/to/`), Buffer.from([0x78, 0xe9, 0xff])]))).toEqual(
    Buffer.from([0, 255, 254]),
  )
  expect(readFileSync(join(place, 'to/a-result.json'), 'utf8')).toBe('\ufeff{ "x": 1.0 }\r\n')
})

test('links are followed to files in the directory alone, and what is no file is left out', async () => {
  write({ 'a-result.json': '{}', 'sub/near.txt': 'near' })
  write({ 'far.txt': 'far', 'deep/x-result.json': '{}' }, 'elsewhere')
  write({ 'beside.txt': 'of a directory whose name begins alike' }, 'from-other')
  const link = (target: string, name: string): void => symlinkSync(target, join(place, 'from', name))
  link('sub/near.txt', 'linked.txt')
  link('linked.txt', 'chain.txt')
  link(join(place, 'from/a-result.json'), 'b-result.json')
  link('../elsewhere/far.txt', 'out.txt')
  link('out.txt', 'chain-out.txt')
  link('../far.txt', 'sub/out.txt')
  link('../../elsewhere/far.txt', 'sub/out-too.txt')
  link(join(place, 'elsewhere/far.txt'), 'out-result.json')
  link('../from-other/beside.txt', 'beside.txt')
  link('/proc/version', 'kernel.txt')
  link('../elsewhere/deep', 'folder-out')
  link(join(place, 'from'), 'loop')
  link('nowhere', 'broken')
  execFileSync('mkfifo', [join(place, 'from/pipe')])
  symlinkSync('nowhere', Buffer.concat([Buffer.from(`${place}/from/`), Buffer.from([0x79, 0xff])]))
  symlinkSync('../elsewhere/far.txt', Buffer.concat([Buffer.from(`${place}/from/`), Buffer.from([0x7a, 0xff])]))
  symlinkSync('a-result.json', Buffer.concat([Buffer.from(`${place}/from/`), Buffer.from([0x77, 0xff])]))
  const { omitted } = await copy()
  const bytes = readFileSync(Buffer.concat([Buffer.from(`${place}/to/`), Buffer.from([0x77, 0xff])]), 'utf8')
  rmSync(Buffer.concat([Buffer.from(`${place}/to/`), Buffer.from([0x77, 0xff])]))
  expect([read(), bytes]).toEqual([
    { 'a-result.json': '{}', 'b-result.json': '{}', 'sub/near.txt': 'near', 'linked.txt': 'near', 'chain.txt': 'near' },
    '{}',
  ])
  expect(lstatSync(join(place, 'to/linked.txt')).isFile()).toBe(true)
  const out = 'a symbolic link that points outside the directory'
  const nowhere = 'a broken symbolic link'
  expect(Object.fromEntries(omitted.map(({ file, message }) => [file, message]))).toEqual({
    'out.txt': out,
    'chain-out.txt': out,
    'sub/out.txt': nowhere,
    'sub/out-too.txt': out,
    'out-result.json': out,
    'beside.txt': out,
    'kernel.txt': out,
    'folder-out': out,
    'z\\xff': out,
    broken: nowhere,
    'y\\xff': nowhere,
    loop: 'a symbolic link to a directory',
    pipe: 'a pipe, not a file',
  })
})

test('the directory itself may be a link, which is the word of who names it', async () => {
  write({ 'a-result.json': '{}', 'x.txt': 'x' })
  symlinkSync('x.txt', join(place, 'from/y.txt'))
  symlinkSync('from', join(place, 'named'))
  await mendedCopy({
    from: join(place, 'named'),
    output: join(place, 'to'),
    off: new Set(),
    writers,
    signal: new AbortController().signal,
  })
  expect(read()).toEqual({ 'a-result.json': '{}', 'x.txt': 'x', 'y.txt': 'x' })
})

test('the right to run as the owner of a file is not copied', async () => {
  write({ 'a-result.json': '{}', 'x.txt': 'x', 'empty.txt': '' })
  for (const name of ['a-result.json', 'x.txt', 'empty.txt']) chmodSync(join(place, 'from', name), 0o6755)
  await copy()
  expect(
    ['a-result.json', 'x.txt', 'empty.txt'].map((name) => lstatSync(join(place, 'to', name)).mode & 0o7777),
  ).toEqual([0o755, 0o755, 0o755])
})

describe('where a copy may be', () => {
  test.each<[what: string, from: string, output: string, message: string]>([
    ['in the directory', 'from', 'from/to', 'must be outside the original'],
    ['the directory itself', 'from', 'from', 'must be outside the original'],
    ['in it by a link', 'from', 'link/to', 'must be outside the original'],
    ['around it', 'from/inner', 'from', 'contains the original'],
    ['not empty', 'from', 'full', 'is not empty'],
    ['a file', 'from', 'full/x', 'not a directory'],
    ['a link', 'from', 'link', 'a symbolic link'],
    ['in no directory', 'from', 'none/to', 'there is no directory'],
    ['of no directory', 'none', 'to', 'there is no directory'],
    ['of a file', 'full/x', 'to', 'is not a directory'],
  ])('%s', async (_, from, output, message) => {
    write({ 'a-result.json': '{}', 'inner/x': '' })
    write({ x: '' }, 'full')
    symlinkSync(join(place, 'from'), join(place, 'link'))
    const before = read('.')
    const failed = mendedCopy({
      from: join(place, from),
      output: join(place, output),
      off: new Set(),
      writers,
      signal: new AbortController().signal,
    })
    await expect(failed).rejects.toThrow(AdminError)
    await expect(failed).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining(message) as string })
    expect(read('.')).toEqual(before)
  })

  test('an empty directory is taken, and the mode is kept', async () => {
    write({ 'a-result.json': '{}' })
    chmodSync(join(place, 'from'), 0o750)
    mkdirSync(join(place, 'to'))
    await copy()
    expect([read(), lstatSync(join(place, 'to')).mode & 0o777]).toEqual([{ 'a-result.json': '{}' }, 0o750])
  })
})

describe('a copy that fails leaves nothing', () => {
  test('interrupted', async () => {
    write(Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`${index}-result.json`, '{}'])))
    const controller = new AbortController()
    const failed = mendedCopy({
      from: join(place, 'from'),
      output: join(place, 'to'),
      off: new Set(),
      writers,
      signal: controller.signal,
      progress: (done) => done === 50 && controller.abort(new AdminError('INTERRUPTED', 'interrupted')),
    })
    await expect(failed).rejects.toMatchObject({ code: 'INTERRUPTED' })
    expect(readdirSync(place)).toEqual(['from'])
  })

  test('a file that vanishes', async () => {
    write({
      ...Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${index}.txt`, ''])),
      'a-result.json': '{}',
    })
    const failed = mendedCopy({
      from: join(place, 'from'),
      output: join(place, 'to'),
      off: new Set(),
      writers,
      signal: new AbortController().signal,
      progress: (done) => done === 1 && rmSync(join(place, 'from/99.txt')),
    })
    await expect(failed).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/99\.txt disappeared during the copy\. .*; nothing was written to /) as string,
    })
    expect(readdirSync(place)).toEqual(['from'])
  })

  test('a file that becomes a pipe, to which nobody writes', async () => {
    write({
      ...Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${index}.txt`, ''])),
      'a-result.json': '{}',
    })
    const replace = (): void => {
      rmSync(join(place, 'from/99.txt'))
      execFileSync('mkfifo', [join(place, 'from/99.txt')])
    }
    const failed = mendedCopy({
      from: join(place, 'from'),
      output: join(place, 'to'),
      off: new Set(),
      writers,
      signal: new AbortController().signal,
      progress: (done) => done === 1 && replace(),
    })
    await expect(failed).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message:
        `during the copy, ${join(place, 'from/99.txt')} was replaced by something that is not a file. Another ` +
        'program may still be writing to the directory',
    })
    expect(readdirSync(place)).toEqual(['from'])
  })

  test.each<[string, () => void]>([
    ['a file', () => (rmSync(join(place, 'from/99.txt')), symlinkSync('/etc/passwd', join(place, 'from/99.txt')))],
    [
      'a folder',
      () => (
        rmSync(join(place, 'from/sub'), { recursive: true }), symlinkSync('../elsewhere', join(place, 'from/sub'))
      ),
    ],
  ])('%s that becomes a link out of the directory', async (_, replace) => {
    write({
      ...Object.fromEntries(Array.from({ length: 100 }, (__, index) => [`${index}.txt`, ''])),
      'sub/99.txt': '',
      'a-result.json': '{}',
    })
    write({ '99.txt': 'far' }, 'elsewhere')
    const failed = mendedCopy({
      from: join(place, 'from'),
      output: join(place, 'to'),
      off: new Set(),
      writers,
      signal: new AbortController().signal,
      progress: (done) => done === 1 && replace(),
    })
    await expect(failed).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(
        new RegExp(
          String.raw`^during the copy, .*99\.txt was replaced by a link that points outside the directory\. ` +
            'Another program may still be writing to the directory$',
        ),
      ) as string,
    })
    expect(readdirSync(place).sort()).toEqual(['elsewhere', 'from'])
  })

  test('another one that comes to its end before', async () => {
    write({ 'a-result.json': '{}' })
    const failed = mendedCopy({
      from: join(place, 'from'),
      output: join(place, 'to'),
      off: new Set(),
      writers,
      signal: new AbortController().signal,
      progress: () => write({ x: '' }, 'to'),
    })
    await expect(failed).rejects.toMatchObject({
      code: 'USAGE',
      message:
        `--output: another program wrote to ${join(place, 'to')} during the copy, so this command wrote nothing ` +
        'there',
    })
    expect([readdirSync(place).sort(), read()]).toEqual([['from', 'to'], { x: '' }])
  })

  test('a file that cannot be read, root included', async () => {
    write({ 'a-result.json': '{}' })
    write({ 'b-result.json': '{}' })
    chmodSync(place, 0o777)
    chmodSync(join(place, 'from/b-result.json'), 0)
    await expect(asNobody(copy)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(readdirSync(place)).toEqual(['from'])
  })
})

test('what a process that was killed has left is removed, and nothing else', async () => {
  write({ 'a-result.json': '{}' })
  const kept = [
    '.to.new-other-abcdef',
    '.to.new-elsewhere-abcdef',
    '.to.new-abcdef',
    '.to.new-x.new-ended-abcdef',
    '.to.newer',
    '.two.new-ended-abcdef',
  ]
  for (const name of [...kept, '.to.new-ended-abcdef', '.to.new-ended-ABC123'])
    write({ 'deep/a-result.json': '{}' }, name)
  write({ '.to.new-ended-123456': 'a file' }, '.')
  const told: string[] = []
  await mendedCopy({
    from: join(place, 'from'),
    output: join(place, 'to'),
    off: new Set(),
    writers,
    signal: new AbortController().signal,
    tell: (message) => told.push(message.replaceAll(place, '')),
  })
  expect(readdirSync(place).sort()).toEqual([...kept, '.to.new-ended-123456', 'from', 'to'].sort())
  expect(told.sort()).toEqual(
    ['.to.new-abcdef', '.to.new-elsewhere-abcdef'].map(
      (name) =>
        `/${name} is an unfinished copy. Another machine may still be writing it. If not, remove the copy: ` +
        `rm -r /${name}`,
    ),
  )
})
