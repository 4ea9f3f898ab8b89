import { describe, expect, test } from 'vitest'
import type { Moving } from '../../../src/core/controls.ts'
import { AdminError } from '../../../src/core/error.ts'
import type { WantedImage } from '../../../src/core/sources.ts'
import { fetchImage, hasImage, layersIn, notFetched } from '../../../src/platforms/compose/images.ts'
import { viewOf } from '../../../src/platforms/compose/view.ts'
import { typed } from '../../../src/core/shell-command.ts'
import { composeWorld, recorded } from './world.ts'
import type { ComposeWorld } from './world.ts'
import type { EngineState } from './fake-docker.ts'

const image = 'registry.example.org/qameta/testops-legacy:527u01'
const wanted: WantedImage = { image, platform: null }

async function engineWith(
  of: Partial<EngineState>,
): Promise<ComposeWorld & { view: Awaited<ReturnType<typeof viewOf>> }> {
  const world = await composeWorld({ containers: [await recorded('testops')], images: new Map(), ...of })
  const view = await viewOf(
    { project: null, file: null, service: null, build: null, cpuinfo: null, folder: world.folder },
    world.options,
  )
  return { ...world, view }
}

async function fetched(of: Partial<EngineState>, asked = wanted, timeoutMs = 10_000): Promise<unknown> {
  const { view } = await engineWith(of)
  const moved: Moving[] = []
  try {
    await fetchImage(view, asked, { timeoutMs, moving: (it) => void moved.push(it) })
    return { moved: moved.at(-1), is: await hasImage(view, asked) }
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
    return [`${error.code} ${error.message}`, ...error.suggestions]
  }
}

test('an image that is not there is fetched, and counted by its layers', async () => {
  const { view } = await engineWith({ registry: { [image]: 'linux/amd64' } })
  expect(await hasImage(view, wanted)).toBe(false)
  expect(await fetched({ registry: { [image]: 'linux/amd64' } })).toEqual({
    moved: { done: 1, total: 1, unit: 'layers' },
    is: true,
  })
})

test('the platform of the compose file is asked for, and no other counts as there', async () => {
  const world = await engineWith({ registry: { [image]: 'linux/arm64' }, images: new Map([[image, 'linux/amd64']]) })
  const asked = { image, platform: 'linux/arm64' }
  expect(await hasImage(world.view, asked)).toBe(false)
  await fetchImage(world.view, asked, { timeoutMs: 10_000, moving: () => undefined })
  expect([await hasImage(world.view, asked), world.asked.filter((it) => it.startsWith('pull'))]).toEqual([
    true,
    [`pull --platform linux/arm64 ${image}`],
  ])
})

test('an image of a foreign platform is refused, unless the service has run such a one there', async () => {
  expect(await fetched({ registry: { [image]: 'linux/arm64' } })).toEqual([
    `REFUSED image \`${image}\` is for linux/arm64, but docker on this machine runs linux/amd64. Nothing was changed`,
    `docker pull ${image}   # the command that fetched the image`,
    'publish an image for linux/amd64 in the registry',
  ])
  const container = await recorded('testops')
  const { view } = await engineWith({
    images: new Map([
      [container.Config.Image, 'linux/arm64'],
      [image, 'linux/arm64'],
    ]),
  })
  expect(await hasImage(view, wanted)).toBe(true)
})

test('what is no name of an image reaches no engine', async () => {
  for (const asked of [
    { image: '--config=/tmp/x', platform: null },
    { image, platform: '-x' },
    { image: 'a b', platform: null },
  ]) {
    const world = await engineWith({})
    await expect(fetchImage(world.view, asked, { timeoutMs: 1000, moving: () => undefined })).rejects.toThrow(
      /is not a valid image name/,
    )
    expect(world.asked.filter((it) => it.startsWith('pull'))).toEqual([])
  }
})

test('a registry that says nothing is given up in time', async () => {
  expect(await fetched({ registry: { [image]: { failure: 'x', silentMs: 5000 } } }, wanted, 300)).toEqual([
    `TIMED_OUT fetching image \`${image}\` timed out after 0.3 s. Nothing was changed`,
    `docker pull ${image}   # continues without a time limit`,
    '--patience SECONDS   # gives the same command more time',
  ])
})

test('a registry that goes on and on holds nobody up', async () => {
  const failure = `Error response from daemon: ${'lookup x '.repeat(100_000)}`
  expect(await fetched({ registry: { [image]: { failure } } })).toEqual([
    expect.stringMatching(
      /^FAILED cannot fetch image .*: Error response from daemon: (?:lookup x )+.{0,9}\. Nothing was changed$/,
    ),
    expect.stringContaining('# the command that failed'),
  ])
})

/**
 * What engines were seen to say: Docker 26.1.5 with a registry 2.8.3, and in the sources of containerd and
 * containers/image.
 */
describe('why not, by what the engine says', () => {
  const from = (host: string): WantedImage => ({ image: `${host}/tools/testops-legacy:527u01`, platform: null })
  test.each<[said: string, code: string, message: string, of?: WantedImage]>([
    [
      'Error response from daemon: manifest for r.io/tools/testops-legacy:527u01 not found: manifest unknown: ' +
        'manifest unknown',
      'REFUSED',
      'r.io does not have this image or tag',
    ],
    [
      'Error response from daemon: failed to resolve reference "r.io/tools/testops-legacy:527u01": ' +
        'r.io/tools/testops-legacy:527u01: not found',
      'REFUSED',
      'r.io does not have this image or tag',
    ],
    [
      'Error: initializing source docker://r.io/tools/testops-legacy:527u01: reading manifest 527u01 in ' +
        'r.io/tools/testops-legacy: manifest unknown',
      'REFUSED',
      'r.io does not have this image or tag',
    ],
    [
      'Error response from daemon: Head "https://r.io/v2/tools/testops-legacy/manifests/527u01": no basic auth ' +
        'credentials',
      'UNAUTHENTICATED',
      'r.io requires a login',
    ],
    [
      'Error response from daemon: unauthorized: unauthorized to access repository: tools/testops-legacy, action: pull',
      'UNAUTHENTICATED',
      'r.io requires a login',
    ],
    [
      'Error response from daemon: pull access denied for testops-legacy, repository does not exist or may ' +
        "require 'docker login': denied: requested access to the resource is denied",
      'UNAUTHENTICATED',
      'docker.io does not have this repository, or requires a login',
      { image: 'testops-legacy:527u01', platform: null },
    ],
    [
      'Error response from daemon: Head "https://r.io/v2/tools/testops-legacy/manifests/527u01": denied: ' +
        'access forbidden',
      'FORBIDDEN',
      'r.io does not allow this user to fetch this image',
    ],
    [
      'Error response from daemon: toomanyrequests: You have reached your unauthenticated pull rate limit.',
      'EXHAUSTED',
      'r.io accepts no more requests for now',
    ],
    [
      'Error response from daemon: Get "https://r.io/v2/": dial tcp: lookup r.io on 10.255.255.53:53: no such host',
      'UNREACHABLE',
      'docker cannot resolve the host name r.io',
    ],
    [
      'Error response from daemon: Get "http://127.0.0.1:5799/v2/": dial tcp 127.0.0.1:5799: connect: ' +
        'connection refused',
      'UNREACHABLE',
      'docker cannot connect to 127.0.0.1:5799',
      from('127.0.0.1:5799'),
    ],
    [
      'Error response from daemon: Get "https://r.io/v2/": dial tcp 10.0.0.9:443: connect: no route to host',
      'UNREACHABLE',
      'docker cannot connect to r.io',
    ],
    [
      'Error response from daemon: Get "https://r.io/v2/": dial tcp 10.0.0.9:443: i/o timeout',
      'TIMED_OUT',
      'r.io timed out',
    ],
    [
      'Error response from daemon: Get "http://127.0.0.1:5713/v2/": context deadline exceeded (Client.Timeout ' +
        'exceeded while awaiting headers)',
      'TIMED_OUT',
      '127.0.0.1:5713 timed out',
      from('127.0.0.1:5713'),
    ],
    [
      'Error response from daemon: Get "https://r.io/v2/": tls: failed to verify certificate: x509: ' +
        'certificate signed by unknown authority',
      'UNREACHABLE',
      'docker does not trust the certificate of r.io, or r.io does not use TLS',
    ],
    [
      'Error response from daemon: Get "https://r.io/v2/": http: server gave HTTP response to HTTPS client',
      'UNREACHABLE',
      'docker does not trust the certificate of r.io, or r.io does not use TLS',
    ],
    [
      '527u01: Pulling from tools/testops-legacy\ne5c9d750988c: Download complete\nfailed to register layer: ' +
        'write /big: no space left on device',
      'FAILED',
      'docker has no space left on its disk',
    ],
    [
      '527u01: Pulling from tools/testops-legacy\nno matching manifest for linux/amd64 in the manifest list entries',
      'REFUSED',
      "r.io does not have this image for this engine's platform",
    ],
    [
      'image with reference r.io/tools/testops-legacy:527u01 was found but does not match the specified ' +
        'platform: wanted linux/amd64, actual: linux/arm64',
      'REFUSED',
      'r.io does not have this image for linux/amd64',
      { ...from('r.io'), platform: 'linux/amd64' },
    ],
    ['', 'FAILED', 'the engine does not say why'],
    [
      'Error response from daemon: something new with password=geheim',
      'FAILED',
      'Error response from daemon: something new with password=[secret]',
    ],
  ])('%s', (said, code, message, of = from('r.io')) => {
    const error = notFetched(of, { engine: { program: 'docker' }, asked: typed(['docker', 'pull', of.image]), said })
    expect([error.code, error.message]).toEqual([
      code,
      `cannot fetch image \`${of.image}\`: ${message}. Nothing was changed`,
    ])
    expect(error.suggestions.at(-1)).toBe(`docker pull ${of.image}   # the command that failed`)
  })

  test('the engine itself is told from a registry', () => {
    const failure = (said: string): string => {
      const { code, message } = notFetched(wanted, {
        engine: { program: 'docker' },
        asked: typed(['docker', 'pull', image]),
        said,
      })
      return `${code} ${message}`
    }
    expect(
      failure('Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?'),
    ).toMatch(/^UNAVAILABLE docker is installed, but its engine does not answer/)
    expect(
      failure('permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock'),
    ).toMatch(/^FORBIDDEN the socket of docker denies access to this user/)
  })
})

test('layers of podman are counted, too', () => {
  const { see } = layersIn()
  expect(
    ['Copying blob sha256:e5c9d750988c1234 done   |', 'Copying blob 0123456789ab', 'Writing manifest'].map((line) =>
      see(line),
    ),
  ).toEqual([{ done: 1, total: 1, unit: 'layers' }, { done: 1, total: 2, unit: 'layers' }, null])
})
