import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildImage } from '../../bin/package/image.js'
import packageJson from '../../package.json' with { type: 'json' }
import type { DoctorReport } from '../../src/core/check.ts'
import { imageBuilder, runImage } from './image-builder.ts'
import type { BuiltImage } from './image-builder.ts'
import { arch, madePackages } from './made.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

let folder: string
let image: BuiltImage
let shown: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'testops-admin-image-'))
  // other users start the program in it
  await chmod(folder, 0o755)
  const [work, made] = [join(folder, 'context'), await madePackages()]
  await mkdir(work)
  const builder = await imageBuilder(join(folder, 'builder'), [root, work])
  const [file, notices] = [join(made, `testops-admin-linux-${arch}`), join(made, 'THIRD-PARTY-NOTICES.txt')]
  const umask = process.umask(0o077)
  try {
    image = await builder.image(buildImage({ engine: builder.engine, root, work, file, notices }))
  } finally {
    process.umask(umask)
  }
  shown = join(folder, 'shown')
  await mkdir(shown)
  await writeFile(
    join(shown, 'testops-admin.yaml'),
    'deployments:\n  prod: {database: {url: "postgresql://t@127.0.0.1:1/t"}}\n',
  )
}, 300_000)
afterAll(async () => rm(folder, { recursive: true, force: true }))

test('the image is built of the Dockerfile, for a plain user', async () => {
  expect(image.config).toMatchObject({
    User: '65532:65532',
    Entrypoint: ['/usr/bin/testops-admin'],
    WorkingDir: '/work',
    Env: expect.arrayContaining(['XDG_STATE_HOME=/state', 'NODE_DISABLE_COMPILE_CACHE=1']) as string[],
  })
  const mode = async (path: string): Promise<string> => ((await stat(join(image.tree, path))).mode & 0o7777).toString(8)
  const paths = ['usr', 'usr/bin', 'usr/bin/testops-admin', 'usr/share/doc/testops-admin/copyright', 'state']
  expect(await Promise.all(paths.map(mode))).toEqual(['755', '755', '755', '644', '1777'])
})

test.each([
  ['as its own user', undefined],
  ['as another user, whom it does not know', '12345:12345'],
])('it runs on a read-only root %s', async (_, user) => {
  const run = async (...words: string[]): ReturnType<typeof runImage> =>
    runImage(image, words, { shown, ...(user !== undefined && { user }) })
  const version = await run('--version')
  expect([version.stderr, version.exitCode]).toEqual(['', 0])
  expect(version.stdout).toMatch(new RegExp(`^testops-admin/${packageJson.version} linux-${arch} node-v22`))

  const { stdout, stderr, exitCode } = await run('doctor', '--config', '/work/testops-admin.yaml', '--json')
  expect([stderr, exitCode]).toEqual(['', 1])
  const { checks, rootCauses } = JSON.parse(stdout) as DoctorReport
  expect(rootCauses).toEqual(['database/reachable'])
  expect(checks.find(({ id }) => id === 'service/unfinished-repair')).toMatchObject({ status: 'ok' })
})
