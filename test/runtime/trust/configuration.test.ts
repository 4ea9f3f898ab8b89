import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, open, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ownCircle } from '../../../src/adapters/trust/circle.ts'
import { judgeOpened, judgePath } from '../../../src/adapters/trust/judge.ts'
import { AdminError } from '../../../src/core/error.ts'
import { ignoredConfiguration } from '../../../src/runtime/configuration/find.ts'
import { findDeployment, loadConfiguration } from '../../../src/runtime/index.ts'
import { folderWith } from '../folder.ts'

const name = 'testops-admin.yaml'
const valid = 'deployments:\n  prod:\n    url: https://testops.example.org\n'
const isRoot = process.getuid?.() === 0

async function said(
  work: Promise<unknown>,
): Promise<{ exitCode: number; message: string; suggestions: readonly string[] } | null> {
  try {
    await work
    return null
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
    const { exitCode, message, suggestions } = error
    return { exitCode, message, suggestions }
  }
}

test.each([
  ['found here', async (folder: string) => loadConfiguration({ environment: {}, workingDirectory: folder })],
  [
    'found above',
    async (folder: string) => loadConfiguration({ environment: {}, workingDirectory: join(folder, 'a/b') }),
  ],
  [
    'named by --config',
    async (folder: string) => loadConfiguration({ environment: {}, workingDirectory: '/', file: join(folder, name) }),
  ],
  [
    "in the operator's own folder",
    async (folder: string) => {
      const own = join(folder, 'xdg/testops-admin/config.yaml')
      return loadConfiguration({
        environment: { XDG_CONFIG_HOME: join(folder, 'xdg') },
        workingDirectory: '/',
        file: own,
      })
    },
  ],
  [
    'of the practice deployment',
    async (folder: string) =>
      findDeployment({
        name: 'lab',
        environment: { TESTOPS_ADMIN_LAB_DIR: join(folder, 'lab'), HOME: join(folder, 'home') },
        workingDirectory: '/',
      }),
  ],
])('a configuration %s that others may write is refused, with the way to trust it', async (_, load) => {
  const folder = await folderWith({
    [name]: valid,
    'a/b/c': '',
    'xdg/testops-admin/config.yaml': valid,
    [`lab/${name}`]: valid.replace('prod', 'lab'),
  })
  expect(await said(load(folder))).toBe(null)
  for (const file of [name, 'xdg/testops-admin/config.yaml', `lab/${name}`]) await chmod(join(folder, file), 0o666)
  const refusal = await said(load(folder))
  expect(refusal).toMatchObject({
    exitCode: 64,
    message: expect.stringMatching(
      /^the configuration \S+ is not trusted: every user can write to it \(mode 0666\)$/,
    ) as string,
  })
  expect(refusal?.suggestions).toEqual([
    expect.stringMatching(/^chmod go-w \/\S+$/),
    expect.stringMatching(
      /^export TESTOPS_ADMIN_TRUST=\/\S+ {3}# first read the file: commands in the file run under your account$/,
    ),
  ])
  execFileSync('sh', ['-c', refusal!.suggestions[0]!])
  expect(await said(load(folder))).toBe(null)
})

test('a folder on the way that others may write is as bad, unless it is sticky', async () => {
  const folder = await folderWith({ [`open/way/${name}`]: valid })
  const load = async (): ReturnType<typeof said> =>
    said(loadConfiguration({ environment: {}, workingDirectory: join(folder, 'open/way') }))
  await chmod(join(folder, 'open'), 0o777)
  expect(await load()).toMatchObject({
    exitCode: 64,
    message: `the configuration ${name} is not trusted: every user can write to its folder ${folder}/open (mode 0777)`,
  })
  await chmod(join(folder, 'open'), 0o1777)
  expect(await load()).toBe(null)
})

test('so are the folders of links, and those that links lead through', async () => {
  const folder = await folderWith({ [`real/${name}`]: valid, 'open/x': '', 'links/x': '' })
  const real = join(folder, 'real', name)
  await symlink(real, join(folder, 'links', name))
  await symlink(real, join(folder, 'open', name))
  await symlink('../open', join(folder, 'links/way'))
  await symlink(name, join(folder, 'links/loop'))
  const load = async (path: string): ReturnType<typeof said> =>
    said(loadConfiguration({ environment: {}, workingDirectory: folder, file: path }))
  expect(await load(`links/${name}`)).toBe(null)
  expect(await load('links/loop')).toBe(null)
  await chmod(join(folder, 'open'), 0o777)
  for (const path of [`open/${name}`, `links/way/${name}`])
    expect(await load(path)).toMatchObject({
      message:
        `the configuration ${path} is not trusted: every user can write to its folder ${folder}/open ` + '(mode 0777)',
    })
})

test('TESTOPS_ADMIN_TRUST names one file, wherever links to it lie, and no other', async () => {
  const folder = await folderWith({ [name]: valid, [`other/${name}`]: valid, 'links/x': '' })
  await symlink(join(folder, name), join(folder, 'links', name))
  for (const file of [name, `other/${name}`]) await chmod(join(folder, file), 0o666)
  const isRefused = async (trust: string, file = name): Promise<boolean> =>
    (await said(loadConfiguration({ environment: { TESTOPS_ADMIN_TRUST: trust }, workingDirectory: folder, file }))) !==
    null
  const own = join(folder, name)
  expect(await isRefused(own)).toBe(false)
  expect(await isRefused(`/nowhere:${own}`)).toBe(false)
  expect(await isRefused(join(folder, 'links', name))).toBe(false)
  expect(await isRefused(own, `links/${name}`)).toBe(false)
  for (const trust of ['', ':', name, `./${name}`, folder, `${folder}/`, `${folder}/*`, '*', '/', `${own}x`])
    expect([trust, await isRefused(trust)]).toEqual([trust, true])
  expect(await isRefused(own, `other/${name}`)).toBe(true)
  const relative = await said(
    loadConfiguration({ environment: { TESTOPS_ADMIN_TRUST: name }, workingDirectory: folder }),
  )
  expect(relative?.message).toMatch(/; TESTOPS_ADMIN_TRUST accepts only absolute paths$/)
})

test("another user's, and under sudo the calling user's", async () => {
  const folder = await folderWith({ [name]: valid })
  const file = join(folder, name)
  // only root can give a file away; to anybody else, what is ours is shown as to another user
  if (isRoot) await chown(file, 65534, 65534)
  const [own, sudo] = isRoot
    ? [ownCircle()!, ownCircle({ environment: { SUDO_UID: '65534' } })!]
    : [
        ownCircle({ uid: 0, environment: {} })!,
        ownCircle({ uid: 0, environment: { SUDO_UID: String(process.getuid?.()) } })!,
      ]
  const handle = await open(file)
  expect(judgeOpened(file, handle.fd, own).flaws.at(-1)).toMatchObject({ path: file, why: 'owner' })
  expect(judgeOpened(file, handle.fd, sudo).flaws).toEqual([])
  await handle.close()
})

test('it is the open file that counts: another in its place is told', async () => {
  const folder = await folderWith({ [name]: valid, next: valid })
  const file = join(folder, name)
  const handle = await open(file)
  expect(judgeOpened(file, handle.fd).flaws).toEqual([])
  await rename(join(folder, 'next'), file)
  expect(judgeOpened(file, handle.fd).flaws).toMatchObject([{ why: 'replaced' }])
  await rm(file)
  expect(judgeOpened(file, handle.fd).flaws).toMatchObject([{ why: 'replaced' }])
  await handle.close()
})

test('a read-only mount counts as not writable, as where a pod has a ConfigMap', async () => {
  const folder = await folderWith({ '..data_1/testops-admin.yaml': valid })
  await symlink('..data_1', join(folder, '..data'))
  await symlink(`..data/${name}`, join(folder, name))
  for (const path of ['', '..data_1', `..data_1/${name}`]) await chmod(join(folder, path), 0o777)
  const at = async (isReadOnly: (path: string) => boolean): Promise<number> => {
    const handle = await open(join(folder, name))
    const { flaws } = judgeOpened(join(folder, name), handle.fd, { ...ownCircle()!, isReadOnly })
    await handle.close()
    return flaws.length
  }
  expect(await at(() => false)).toBe(3)
  expect(await at((path) => path.startsWith(folder))).toBe(0)
  await chmod(folder, 0o700)
})

test('a pipe, a folder, a device, a socket or a large file is one clear error at once', async () => {
  const folder = await folderWith({ 'folder/x': '', large: '' })
  execFileSync('mkfifo', [join(folder, 'pipe')])
  await truncate(join(folder, 'large'), 3_000_000_000)
  const load = async (file: string): Promise<string | undefined> =>
    (await said(loadConfiguration({ environment: {}, workingDirectory: folder, file })))?.message
  expect(await load('pipe')).toBe('cannot read the configuration pipe: it is a pipe, not a file')
  expect(await load('folder')).toBe('cannot read the configuration folder: it is a directory')
  expect(await load('/dev/zero')).toBe('cannot read the configuration /dev/zero: it is a device, not a file')
  expect(await load('large')).toBe('large is too large: a configuration may have at most 1000000 bytes')
  await symlink('round', join(folder, 'round'))
  expect(await load('round')).toBe('cannot read the configuration round: its symbolic links form a loop')
})

test('a missing folder is judged by the way to it', async () => {
  const folder = await folderWith({ 'open/x': '' })
  expect(judgePath(join(folder, 'a/b'))).toEqual({ place: null, flaws: [] })
  await chmod(join(folder, 'open'), 0o777)
  expect(judgePath(join(folder, 'open/a'))).toMatchObject({ place: null, flaws: [{ why: 'everybody' }] })
})

test.each([0o022, 0o002, 0o077])('what this user writes under umask %o is trusted', async (umask) => {
  const folder = await folderWith({})
  const before = process.umask(umask)
  try {
    await mkdir(join(folder, 'checkout/deep'), { recursive: true })
    await writeFile(join(folder, 'checkout', name), valid)
  } finally {
    process.umask(before)
  }
  const circle = { ...ownCircle()!, isPrivate: (gid: number) => gid === process.getgid?.(), hasList: () => false }
  const handle = await open(join(folder, 'checkout', name))
  expect(judgeOpened(join(folder, 'checkout', name), handle.fd, circle).flaws).toEqual([])
  await handle.close()
})

test('a command that needs no configuration says what it ignores, and what it does not', async () => {
  const folder = await folderWith({ [name]: 'never: [read' })
  const note = async (file?: string): Promise<string | null> =>
    ignoredConfiguration({ environment: {}, workingDirectory: folder, file })
  expect(await note()).toBe(null)
  await chmod(join(folder, name), 0o666)
  expect(await note()).toBe(`Ignored: the configuration ${name} is not trusted: every user can write to it (mode 0666)`)
  expect(await note('missing.yaml')).toBe(null)
  execFileSync('mkfifo', [join(folder, 'pipe')])
  expect(await note('pipe')).toBe(null)
  expect(
    await ignoredConfiguration({ environment: { TESTOPS_ADMIN_TRUST: join(folder, name) }, workingDirectory: folder }),
  ).toBe(null)
})
