import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { asNobody } from '../support/as-nobody.ts'
import { addFiles, lint, result, resultsDirectory, said } from './linted.ts'

describe('a file that is no result', () => {
  it.each<[string, unknown, string[]]>([
    ['is empty', '', ['bad-json x-result.json']],
    ['holds blanks', ' \n', ['bad-json x-result.json']],
    ['is cut', '{"name": "a', ['bad-json x-result.json']],
    ['holds an empty object', {}, ['bad-shape x-result.json']],
    ['holds a list', [], ['bad-shape x-result.json']],
    ['holds a number', '17', ['bad-shape x-result.json']],
    ['holds a text', '"a"', ['bad-shape x-result.json']],
    ['holds null', 'null', ['bad-shape x-result.json']],
    [
      'has numbers where texts belong',
      { name: 1, fullName: 2, labels: [{ name: 3, value: 4 }] },
      ['bad-shape x-result.json', 'bad-shape x-result.json', 'bad-shape x-result.json', 'bad-shape x-result.json'],
    ],
    ['is in Latin-1', Buffer.from('{"name": "\xe9"}', 'latin1'), ['not-utf8 x-result.json']],
    ['is in UTF-16', Buffer.from('\ufeff{"name": "a"}', 'utf16le'), ['not-utf8 x-result.json']],
    ['is open a hundred thousand deep', '['.repeat(100_000), ['bad-json x-result.json']],
    ['is a list a hundred thousand deep', '['.repeat(100_000) + ']'.repeat(100_000), ['bad-shape x-result.json']],
    ['has steps a hundred thousand deep', deepSteps(100_000), []],
    ['is open two million deep', '['.repeat(2_000_000), ['bad-json x-result.json']],
    ['begins with the mark of UTF-8', `\ufeff${JSON.stringify(result())}`, []],
  ])('%s', async (_, content, expected) => {
    expect(said(await lint(resultsDirectory({ 'x-result.json': content })))).toEqual(expected)
  })

  it('names its attachments all the same, of which none is asked for', async () => {
    const attachment = (source: string): unknown => ({ attachments: [{ name: 'a', source, type: 'text/plain' }] })
    const folder = resultsDirectory({
      'a-result.json': JSON.stringify(attachment('a-attachment.txt')).slice(0, -1),
      'b-result.json': { name: 1, ...(attachment('b-attachment.txt') as object) },
      'c-result.json': Buffer.from(JSON.stringify(attachment('c-attachment.txt')).replace('"a"', '"\xe9"'), 'latin1'),
      'd-result.json': { description: 'x'.repeat(2_000_001), ...(attachment('d-attachment.txt') as object) },
      'e-container.json': '{"befores": [{"attachments": [{"source": "e-attachment.txt"}',
      'f-result.json': '{"attachments": [{"source": "nowhere.txt"}',
      'orphan.txt': '',
      ...Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [`${name}-attachment.txt`, 'x'])),
    })
    expect(said(await lint(folder))).toEqual([
      'oversize-result d-result.json',
      'bad-json a-result.json',
      'bad-json f-result.json',
      'bad-shape b-result.json',
      'not-utf8 c-result.json',
      'orphan-attachment orphan.txt',
    ])
  })
})

function deepSteps(depth: number): string {
  return `{"fullName":"a.B#c","name":"c","steps":[${'{"steps":['.repeat(depth)}${']}'.repeat(depth)}]}`
}

describe('a directory', () => {
  it.each<[string, (folder: string) => string, RegExp]>([
    ['that is not there', (folder) => join(folder, 'none'), /does not exist/],
    ['that is a file', (folder) => join(folder, 'file'), /director/],
    ['without results', (folder) => folder, /result/],
  ])('%s', async (_, of, message) => {
    const folder = resultsDirectory({ file: 'x' })
    const report = await lint(of(folder))
    expect(said(report)).toEqual(['empty-results'])
    expect(report.problems[0]!.message).toMatch(message)
  })

  it('that may not be listed by this user', async () => {
    const folder = resultsDirectory({ 'x-result.json': result() })
    chmodSync(folder, 0o300)
    onTestFinished(() => chmodSync(folder, 0o700))
    await expect(asNobody(() => lint(folder))).rejects.toMatchObject({ code: 'FORBIDDEN', exitCode: 69 })
  })

  it('with a file that may not be read by this user: whose attachments there are is not told', async () => {
    const folder = resultsDirectory({
      'x-result.json': result(),
      'y-result.json': result({ fullName: 'y' }),
      'y-attachment.txt': '',
    })
    chmodSync(folder, 0o755)
    chmodSync(join(folder, 'x-result.json'), 0)
    expect(said(await asNobody(() => lint(folder)))).toEqual([
      '? : cannot tell whether 1 file is needed: no result refers to it, but some results could not be read',
      '? x-result.json: this user has no permission to read the file',
    ])
  })

  it('with links that lead nowhere, to a file, back to themselves, and to the directory itself', async () => {
    const folder = resultsDirectory({ 'a-result.json': result(), elsewhere: '' })
    addFiles(folder, { 'sub/b-attachment.txt': 'x' })
    symlinkSync('none', join(folder, 'nowhere-result.json'))
    symlinkSync('self-result.json', join(folder, 'self-result.json'))
    symlinkSync('.', join(folder, 'loop'))
    symlinkSync('self.txt', join(folder, 'self.txt'))
    symlinkSync('none', join(folder, 'nowhere.txt'))
    symlinkSync('a-result.json/x', join(folder, 'below-a-file.txt'))
    symlinkSync('..', join(folder, 'sub/up'))
    symlinkSync('a-result.json', join(folder, 'same-result.json'))
    const report = await lint(folder)
    expect(said(report)).toEqual([
      'nested-attachment sub/b-attachment.txt',
      '? : cannot tell whether 4 files are needed: no result refers to them, but some results could not be read',
      '? below-a-file.txt: the file disappeared after the directory was listed, or is a broken link',
      '? nowhere-result.json: the file disappeared after the directory was listed, or is a broken link',
      '? nowhere.txt: the file disappeared after the directory was listed, or is a broken link',
      '? self-result.json: the symbolic link leads back to itself',
      '? self.txt: the symbolic link leads back to itself',
    ])
    await expect(lint(join(folder, 'loop/loop/a-result.json')).then(said)).resolves.toEqual(['empty-results'])
  })

  describe('with links', () => {
    const secret = 'never-to-be-quoted'
    const out = 'the symbolic link points outside the directory, so it was not followed'
    const withOutside = (
      files: Readonly<Record<string, unknown>>,
    ): { folder: string; outside: string; link: (target: string, name: string) => void } => {
      const parent = resultsDirectory({
        'outside/secret': secret,
        'outside/b-result.json': result({ fullName: 'b', name: secret, labels: [] }),
        'outside/environment.properties': `secret = ${secret}`,
      })
      const folder = join(parent, 'results')
      mkdirSync(folder)
      addFiles(folder, files)
      return {
        folder,
        outside: join(parent, 'outside'),
        link: (target, name) => symlinkSync(target, join(folder, name)),
      }
    }

    it.each<[string, string, string]>([
      ['to what is no result', '../outside/secret', 'x-result.json'],
      ['to a result', '../outside/b-result.json', 'x-result.json'],
      ['to a device', '/dev/zero', 'x-result.json'],
      ['to a device beside', '/dev/zero', 'x.txt'],
      ['to a container', '../outside/secret', 'x-container.json'],
      ['to an attachment', '../outside/secret', 'x-attachment.txt'],
      ['to what is there of itself', '../outside/secret', 'executor.json'],
      ['to an environment', '../outside/environment.properties', 'environment.properties'],
      ['to a folder', '../outside', 'folder'],
      ['to a folder of an earlier report', '../outside', 'history'],
      ['that is hidden', '../outside/secret', '.x-result.json'],
      ['in a subdirectory', '../../outside/secret', 'sub/x-attachment.txt'],
      ['by another link', 'through/secret', 'x-result.json'],
    ])('out of it, %s', async (_, target, name) => {
      const { folder, link } = withOutside({
        'a-result.json': result({ attachments: name === 'x-attachment.txt' ? [{ source: name }] : [] }),
        'sub/.keep': '',
      })
      if (target.startsWith('through')) link('../outside', '.through')
      link(target.replace('through', '.through'), name)
      const report = await lint(folder)
      expect(said(report)).toEqual(
        target.startsWith('through') ? [`? .through: ${out}`, `? ${name}: ${out}`] : [`? ${name}: ${out}`],
      )
      expect(JSON.stringify(report.problems)).not.toContain(secret)
      expect(report.directories[0]!.bytes).toBeLessThan(300)
    })

    it('out of the directory of an earlier run', async () => {
      const { folder, outside, link } = withOutside({})
      link('../outside/b-result.json', 'b-result.json')
      link('../outside/environment.properties', 'environment.properties')
      link('../outside/secret', 'x.txt')
      addFiles(outside, {
        'now/a-result.json': result({ fullName: 'b', parameters: [{ name: 'p', value: '1' }] }),
        'now/environment.properties': 'secret = other',
      })
      expect(said(await lint(join(outside, 'now'), { previous: folder }))).toEqual([
        `? b-result.json: ${out}`,
        `? environment.properties: ${out}`,
      ])
    })

    it('within it', async () => {
      const { folder, link } = withOutside({
        'a-result.json': result({ attachments: [{ source: 'y.txt' }, { source: 'x.txt' }] }),
        'sub/.keep': '',
        'x.txt': 'x',
        '.env': 'a = b',
      })
      link('x.txt', 'y.txt')
      link('.env', 'environment.properties')
      link('sub', 'linked')
      link('../x.txt', 'sub/z.txt')
      expect(said(await lint(folder))).toEqual([])
    })

    it('whose results name attachments that would else be nobody’s', async () => {
      const { folder, link } = withOutside({ 'a-result.json': result(), 'x-attachment.txt': 'x' })
      link('../outside/b-result.json', 'b-result.json')
      expect(said(await lint(folder))).toEqual([
        '? : cannot tell whether 1 file is needed: no result refers to it, but some results could not be read',
        `? b-result.json: ${out}`,
      ])
    })

    it('more than are kept are counted', async () => {
      const { folder, link } = withOutside({
        'a-result.json': result({
          attachments: Array.from({ length: 1200 }, (_, index) => ({ source: `${index}.txt` })),
        }),
        'sub/.keep': '',
      })
      for (let index = 0; index < 1100; index += 1) link('../../outside/secret', `sub/${index}.txt`)
      for (let index = 0; index < 1200; index += 1) link('../outside/secret', `${index}.txt`)
      const { problems, undeterminedCount } = await lint(folder)
      expect([problems.map(({ rule }) => rule), undeterminedCount]).toEqual([[], 2300])
    })

    it('is itself one, which is the word of who names it', async () => {
      const { folder, outside } = withOutside({
        'a-result.json': result({ attachments: [{ source: 'x.txt' }] }),
        'x.txt': 'x',
      })
      symlinkSync(folder, join(outside, 'named'))
      symlinkSync('x.txt', join(folder, 'y.txt'))
      expect(said(await lint(join(outside, 'named')))).toEqual(['orphan-attachment y.txt'])
    })
  })

  it('with pipes, which are not opened', async () => {
    const folder = resultsDirectory({ 'a-result.json': result() })
    execFileSync('mkfifo', [join(folder, 'pipe-result.json'), join(folder, 'pipe.txt')])
    expect(said(await lint(folder))).toEqual([
      '? pipe-result.json: the entry is not a file or directory, so it was not opened',
      '? pipe.txt: the entry is not a file or directory, so it was not opened',
    ])
  })

  it('with names that are no UTF-8', async () => {
    const folder = resultsDirectory({ 'a-result.json': result(), 'sub/x-attachment.txt': '' })
    const named = (bytes: number[], rest: string): Buffer =>
      Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(bytes), Buffer.from(rest)])
    writeFileSync(named([0xff, 0xc3, 0xa9], '-result.json'), '{}')
    writeFileSync(named([0xfe], '.txt'), '')
    expect(said(await lint(folder))).toEqual([
      'nested-attachment sub/x-attachment.txt',
      'bad-shape \\xffé-result.json',
      'orphan-attachment \\xfe.txt',
    ])
    mkdirSync(named([0xff], ''))
    expect(said(await lint(folder)).at(-1)).toBe(
      '? : some subdirectories were not searched: there are too many, they are nested too deeply, this user ' +
        'cannot read them, or their names are not in UTF-8',
    )
  })

  it('whose names and environment would take the square of their length to be judged', async () => {
    const long = '('.repeat(900_000)
    const folder = resultsDirectory({
      'a-result.json': result({ name: long }),
      'b-result.json': result({ name: `${long}[` }),
      'environment.properties': 'a\\\n'.repeat(300_000),
    })
    const started = performance.now()
    expect(said(await lint(folder, { severities: new Map([['long-field', 'off']]) }))).toEqual([
      'name-collision a-result.json',
    ])
    expect(performance.now() - started).toBeLessThan(5000)
  })

  it('with a result of three gigabytes, which is not read', async () => {
    const folder = resultsDirectory({ 'a-result.json': result(), 'x-result.json': '' })
    truncateSync(join(folder, 'x-result.json'), 3 * 2 ** 30)
    const started = performance.now()
    expect(said(await lint(folder))).toEqual(['oversize-result x-result.json'])
    expect(performance.now() - started).toBeLessThan(5000)
  })

  it('in which others are directories of their own', async () => {
    const folder = resultsDirectory({
      'a-result.json': result(),
      'inner/b-result.json': result({ fullName: 'b' }),
      'inner/b-attachment.txt': '',
    })
    expect(said(await lint(folder))).toEqual(['nested-attachment inner/b-attachment.txt'])
    expect(said(await lint([folder, join(folder, 'inner')]))).toEqual(['orphan-attachment b-attachment.txt'])
    mkdirSync(join(folder, 'history'))
    addFiles(folder, { 'history/x-attachment.txt': '', '.hidden': '', 'executor.json': '{}', 'categories.json': '[]' })
    expect(said(await lint([folder, `${folder}/`, join(folder, 'inner')]))).toEqual([
      'orphan-attachment b-attachment.txt',
    ])
  })
})

it('ends when it is told to, and says how far it is', async () => {
  const folder = resultsDirectory(
    Object.fromEntries(
      Array.from({ length: 3000 }, (_, index) => [`${index}-result.json`, result({ fullName: `a.B#${index}` })]),
    ),
  )
  await expect(lint(folder, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
  const later = new AbortController()
  setTimeout(() => later.abort(new Error('enough')), 5)
  await expect(lint(folder, { signal: later.signal })).rejects.toThrow('enough')
  const told: number[] = []
  expect(said(await lint(folder, { progress: (done, total) => told.push(done / total) }, { threads: 1 }))).toEqual([])
  expect(told.every((it, index) => it <= 1 && it >= (told[index - 1] ?? 0))).toBe(true)
})
