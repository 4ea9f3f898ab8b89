import { mkdtempSync, rmSync } from 'node:fs'
import { chmod, chown, lchown, lstat, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Compared } from '../../../src/core/controls.ts'
import { serviceManager } from '../../../src/platforms/host/index.ts'
import type { ServiceManager } from '../../../src/platforms/host/index.ts'
import { trySetting, writeSetting } from '../../../src/platforms/host/setting.ts'
import { failureOf } from '../../adapters/failure-of.ts'
import { nothing } from './nothing.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'setting-'))
  file = join(folder, 'testops.env')
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
})

/** A unit whose environment is so. */
function unit(
  files: readonly { path: string; optional?: boolean }[],
  variables: Record<string, string> = {},
): ServiceManager {
  const systemd = serviceManager({ ...nothing, unit: 'testops' }, { timeoutMs: 1000 })
  if (systemd === null) throw new Error('there is no manager')
  return {
    ...systemd,
    environment: async () => ({
      variables: new Map(Object.entries(variables)),
      files: files.map(({ path, optional = false }) => ({ path, optional })),
    }),
  }
}

async function set(name: string, from: string | null, to: string | null): Promise<Compared> {
  return writeSetting({ name, from, to }, null, { path: file, at: 'testops-admin.yaml:7' })
}

describe('a file', () => {
  const cases: {
    what: string
    before: string
    change: [name: string, from: string | null, to: string | null]
    after: string
  }[] = [
    {
      what: 'with a value',
      before: '# head\nA=1\nB=false\nC=3\n',
      change: ['B', 'false', 'true'],
      after: '# head\nA=1\nB=true\nC=3\n',
    },
    { what: 'without it', before: 'A=1\n', change: ['B', null, 'true'], after: 'A=1\nB=true\n' },
    { what: 'without a line end at its end', before: 'A=1', change: ['B', null, 'true'], after: 'A=1\nB=true\n' },
    { what: 'that ends with the value', before: 'A=1\nB=false', change: ['B', 'false', 'true'], after: 'A=1\nB=true' },
    {
      what: 'with CR LF',
      before: 'A=1\r\nB=false\r\n; end\r\n',
      change: ['B', 'false', 'true'],
      after: 'A=1\r\nB=true\r\n; end\r\n',
    },
    {
      what: 'with CR LF, without it',
      before: 'A=1\r\nC=2',
      change: ['B', null, 'true'],
      after: 'A=1\r\nC=2\r\nB=true\r\n',
    },
    { what: 'that is empty', before: '', change: ['B', null, 'true'], after: 'B=true\n' },
    {
      what: 'with several, of which the last counts',
      before: 'B=1\nA=x\nB=2\nC=y\n',
      change: ['B', '2', '3'],
      after: 'B=1\nA=x\nB=3\nC=y\n',
    },
    {
      what: 'with a quoted value',
      before: 'A="x y"\nB="fal\\"se" \nC=\'z\'\n',
      change: ['B', 'fal"se', 'true'],
      after: 'A="x y"\nB=true\nC=\'z\'\n',
    },
    {
      what: 'with a value over two lines',
      before: 'A=1\nB=one \\\n  two\nC=3\n',
      change: ['B', 'one   two', 'three'],
      after: 'A=1\nB=three\nC=3\n',
    },
    {
      what: 'with a quoted value over two lines',
      before: "B='one\ntwo'\nC=3\n",
      change: ['B', 'one\ntwo', 'x'],
      after: 'B=x\nC=3\n',
    },
    {
      what: 'with blanks',
      before: '\tB =  false  \nC=3\n',
      change: ['B', 'false', 'true'],
      after: '\tB =  true\nC=3\n',
    },
    {
      what: 'where it is commented out',
      before: '#B=false\n; B=false\n',
      change: ['B', null, 'true'],
      after: '#B=false\n; B=false\nB=true\n',
    },
    {
      what: 'with a name that begins alike',
      before: 'BB=1\nB=2\nXB=3\n',
      change: ['B', '2', '4'],
      after: 'BB=1\nB=4\nXB=3\n',
    },
    {
      what: 'for a value with quotes and blanks',
      before: 'B=\n',
      change: ['B', '', 'a "b" $c `d` \\e \'f\' # g'],
      after: 'B="a \\"b\\" \\$c \\`d\\` \\\\e \'f\' # g"\n',
    },
    { what: 'for a value that is not ASCII', before: 'B=ü\n', change: ['B', 'ü', 'ж я'], after: 'B="ж я"\n' },
    {
      what: 'removed',
      before: '# head\nB=1\n\nA=x\n  B="2\n3"\nC=y',
      change: ['B', '2\n3', null],
      after: '# head\n\nA=x\nC=y',
    },
    { what: 'where it is as wanted', before: 'B="true"\n', change: ['B', 'false', 'true'], after: 'B="true"\n' },
    { what: 'where it is absent as wanted', before: 'A=1\n', change: ['B', 'x', null], after: 'A=1\n' },
  ]
  test.each(cases)('$what', async ({ before, change, after }) => {
    await writeFile(file, before)
    expect(await set(...change)).toBe('set')
    expect(await readFile(file, 'utf8')).toBe(after)
    expect(await set(...change)).toBe('set')
    expect(await readdir(folder)).toEqual(['testops.env'])
  })

  test('stays as it is byte for byte, where it is not UTF-8', async () => {
    await writeFile(file, Buffer.from('# \xff\xfe caf\xe9\nA=\xe9\nB=1\n', 'latin1'))
    expect(await set('B', '1', 'é')).toBe('set')
    expect(await readFile(file)).toEqual(Buffer.from('# \xff\xfe caf\xe9\nA=\xe9\nB="\xc3\xa9"\n', 'latin1'))
  })

  test.each([
    ['other', 'B=2\n', '1'],
    ['there', 'B=2\n', null],
    ['gone', 'A=2\n', '1'],
  ])('is left alone where the value is %s than it was', async (_, before, from) => {
    await writeFile(file, before)
    expect(await set('B', from, '3')).toBe('changed')
    expect(await readFile(file, 'utf8')).toBe(before)
  })

  test('keeps its mode, its owner and the link that leads to it', async () => {
    await mkdir(join(folder, 'real'))
    await writeFile(join(folder, 'real/env'), 'B=1\n')
    await chmod(join(folder, 'real/env'), 0o640)
    const owner = process.getuid?.() === 0 ? 1234 : (await stat(folder)).uid
    if (owner === 1234) await chown(join(folder, 'real/env'), owner, owner)
    await symlink('real/env', file)
    expect(await set('B', '1', '2')).toBe('set')
    expect((await lstat(file)).isSymbolicLink()).toBe(true)
    const { mode, uid } = await stat(file)
    expect([await readFile(file, 'utf8'), mode & 0o777, uid]).toEqual(['B=2\n', 0o640, owner])
  })

  test('that is a link of another user to a file of root is not changed', async () => {
    await writeFile(join(folder, 'of-root'), 'B=1\n')
    await symlink('of-root', join(folder, 'of-root-too'))
    await symlink('of-root-too', file)
    // a user who is not root has links of their own alone
    if (process.getuid?.() !== 0) return expect(await set('B', '1', '2')).toBe('set')
    await lchown(file, 1234, 1234)
    expect(await failureOf(set('B', '1', '2'))).toBe(
      `REFUSED user 1234 owns the symbolic link ${file}, but not its target ${join(folder, 'of-root')}. The ` +
        'target was not changed',
    )
    expect(await readFile(file, 'utf8')).toBe('B=1\n')
    await lchown(join(folder, 'of-root-too'), 1234, 1234)
    await lchown(file, 0, 0)
    expect(await failureOf(set('B', '1', '2'))).toMatch(/^REFUSED user 1234 owns the symbolic link \S*of-root-too, /)
    await lchown(join(folder, 'of-root-too'), 0, 0)
    expect(await set('B', '1', '2')).toBe('set')
  })

  test('takes over what a process that was killed left behind', async () => {
    await writeFile(file, 'B=1\n')
    await writeFile(join(folder, '.testops.env.testops-admin.new'), 'half')
    expect(await set('B', '1', '2')).toBe('set')
    expect(await readdir(folder)).toEqual(['testops.env'])
  })

  test('with a quote that nobody closed is not written behind it', async () => {
    await writeFile(file, 'A="open\n')
    expect(await failureOf(set('B', null, '1'))).toBe(
      `REFUSED \`B\` cannot be set in ${file}: the file ends with an unclosed quote or a backslash`,
    )
    expect(await readFile(file, 'utf8')).toBe('A="open\n')
  })

  test('that is missing, or a folder', async () => {
    expect(await failureOf(set('B', null, '1'))).toBe(
      `UNAVAILABLE the service's settings in ${file} (\`host.environmentFile\` at testops-admin.yaml:7) cannot ` +
        'be read: the file is missing',
    )
    await mkdir(file)
    expect(await failureOf(set('B', null, '1'))).toMatch(
      /^UNAVAILABLE the service's settings in .* cannot be read: it is a folder/,
    )
  })

  test.each([
    ['A B', 'x'],
    ['', 'x'],
    ['B', 'a\nC=1'],
    ['B', 'a\0'],
  ])('takes no %j set to %j', async (name, to) => {
    await writeFile(file, 'A=1\n')
    expect(await failureOf(set(name, null, to))).toMatch(/^USAGE /)
  })
})

describe('a unit', () => {
  test('has it in one of its files', async () => {
    await writeFile(file, 'A=1\n')
    await writeFile(`${file}.2`, 'B=1\n')
    const manager = unit([{ path: file }, { path: `${file}.2` }, { path: `${file}.3`, optional: true }], { C: '1' })
    expect(await writeSetting({ name: 'B', from: '1', to: '2' }, manager, null)).toBe('set')
    expect(await writeSetting({ name: 'D', from: null, to: '3' }, manager, null)).toBe('set')
    expect([await readFile(file, 'utf8'), await readFile(`${file}.2`, 'utf8')]).toEqual(['A=1\n', 'B=2\nD=3\n'])
    expect((await readdir(folder)).sort()).toEqual(['testops.env', 'testops.env.2'])
  })

  test('with an optional file alone, which is made', async () => {
    const manager = unit([{ path: file, optional: true }])
    expect(await writeSetting({ name: 'B', from: null, to: null }, manager, null)).toBe('set')
    expect(await readdir(folder)).toEqual([])
    expect(await writeSetting({ name: 'B', from: null, to: '1' }, manager, null)).toBe('set')
    expect([await readFile(file, 'utf8'), (await stat(file)).mode & 0o777]).toEqual(['B=1\n', 0o600])
  })

  test('that names the configured file, too', async () => {
    await writeFile(file, 'B=1\n')
    await symlink(file, `${file}.link`)
    const configured = { path: `${file}.link`, at: 'testops-admin.yaml:7' }
    expect(await writeSetting({ name: 'B', from: '1', to: '2' }, unit([{ path: file }]), configured)).toBe('set')
    expect(await readFile(file, 'utf8')).toBe('B=2\n')
  })

  test('with it in several places, or where it cannot be written', async () => {
    await writeFile(file, 'B=1\n')
    await writeFile(`${file}.2`, 'B=1\n')
    const change = { name: 'B', from: '1', to: '2' }
    const unitItself = `Environment= of ${unit([]).commands.settings}`
    expect(await failureOf(writeSetting(change, unit([{ path: file }, { path: `${file}.2` }]), null))).toBe(
      `REFUSED \`B\` is set in several places: ${file}, ${file}.2`,
    )
    expect(await failureOf(writeSetting(change, unit([{ path: file }], { B: '1' }), null))).toBe(
      `REFUSED \`B\` is set in several places: ${file}, ${unitItself}`,
    )
    expect(await failureOf(writeSetting(change, unit([], { B: '1' }), null))).toBe(
      `REFUSED \`B\` is set by ${unitItself}, which testops-admin does not change`,
    )
    expect(await failureOf(writeSetting(change, unit([{ path: `${folder}/*.env` }]), null))).toBe(
      `REFUSED the service reads its settings from ${folder}/*.env, which may match several files`,
    )
    expect(await failureOf(writeSetting({ ...change, from: null }, unit([], { C: '1' }), null))).toBe(
      'NOT_CONFIGURED `B` cannot be set: the service has no known environment file',
    )
    expect(await readFile(file, 'utf8')).toBe('B=1\n')
  })
})

test('what would come of it is told without writing', async () => {
  const attempt = async (from: string | null, to: string | null, path = file): Promise<unknown> =>
    trySetting({ name: 'B', from, to }, null, { path, at: 'testops-admin.yaml:7' }).catch((error: unknown) => error)
  await writeFile(file, 'B=1\n')
  expect([await attempt('1', '2'), await attempt('3', '2'), await attempt('3', '1')]).toEqual(['set', 'changed', 'set'])
  expect(await attempt('1', '2', join(folder, 'none/env'))).toMatchObject({ code: 'UNAVAILABLE' })
  await writeFile(file, 'A="open\n')
  expect(await attempt(null, '1')).toMatchObject({ code: 'REFUSED' })
  expect([await readFile(file, 'utf8'), await readdir(folder)]).toEqual(['A="open\n', ['testops.env']])
})

test.runIf(process.geteuid?.() === 0)('a file that this user may not write, or that it may not replace', async () => {
  await writeFile(file, 'B=1\n')
  const nobody = 65_534
  const asNobody = async (write = writeSetting): Promise<string | null> => {
    process.seteuid?.(nobody)
    try {
      return await failureOf(write({ name: 'B', from: '1', to: '2' }, null, { path: file, at: 'testops-admin.yaml:7' }))
    } finally {
      process.seteuid?.(0)
    }
  }
  const refused = `FORBIDDEN ${file} cannot be changed: this user has no permission to write the file or its folder`
  await chmod(folder, 0o755)
  expect([await asNobody(), await asNobody(trySetting)]).toEqual([refused, refused])
  await chown(file, nobody, nobody)
  expect(await asNobody()).toBe(refused)
  await chown(file, 0, 0)
  await chmod(file, 0o666)
  await chmod(folder, 0o777)
  expect([await asNobody(), await asNobody(trySetting)]).toEqual([refused, refused])
  await chmod(file, 0o600)
  expect(await asNobody()).toBe(
    `FORBIDDEN this user cannot read the service's settings in ${file} (\`host.environmentFile\` at ` +
      'testops-admin.yaml:7)',
  )
  expect([await readFile(file, 'utf8'), await readdir(folder)]).toEqual(['B=1\n', ['testops.env']])
})

describe('what is taken back is as it was, to the byte', () => {
  const undone = async (
    before: string,
    name: string,
    from: string | null,
    to: string | null,
    between: (text: string) => string = (text) => text,
  ): Promise<string> => {
    const notes: string[] = []
    const place = { path: file, at: 'testops-admin.yaml:7' }
    await writeFile(file, before, 'latin1')
    await writeSetting({ name, from, to }, null, place, { note: async (text) => void notes.push(text) })
    await writeFile(file, between(await readFile(file, 'latin1')), 'latin1')
    expect(
      await writeSetting({ name, from: to, to: from }, null, place, { notes: ['of something else', ...notes] }),
    ).toBe('set')
    return readFile(file, 'latin1')
  }

  test.each<[string, string, string | null, string | null]>([
    ['A=1\nB="false"   \nC=3\n', 'B', 'false', 'true'],
    ["B='a b'\nC=3\n", 'B', 'a b', 'c'],
    ['B=one \\\n  two\nC=3', 'B', 'one   two', null],
    ['# head\r\nB=1\r\n\r\nB="2" \r\nC=\xff\r\n', 'B', '2', 'x y'],
    ['A=1', 'B', null, 'true'],
    ['B=1\nA=x\n', 'B', '1', null],
  ])('%j', async (before, name, from, to) => {
    expect(await undone(before, name, from, to)).toBe(before)
  })

  test('what stands between two places that are taken away is noted nowhere', async () => {
    const notes: string[] = []
    await writeFile(file, 'B=1\nDB_PASSWORD=hidden\nB=2\n')
    await writeSetting(
      { name: 'B', from: '2', to: null },
      null,
      { path: file, at: 'x' },
      { note: async (text) => void notes.push(text) },
    )
    expect([notes, await readFile(file, 'utf8')]).toEqual([[], 'DB_PASSWORD=hidden\n'])
  })

  test('where the file was changed since, only the value is', async () => {
    expect(await undone('B="1"\nC=3\n', 'B', '1', '2', (text) => `# new\n${text}`)).toBe('# new\nB=1\nC=3\n')
    expect(await undone('B="1"\nC=3\n', 'B', '1', '2', (text) => text.replace('C=3', 'C=4'))).toBe('B="1"\nC=4\n')
  })
})
