import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe } from 'vitest'
import { findEngine } from '../../src/platforms/compose/engine.ts'
import type { View } from '../../src/platforms/compose/view.ts'
import { viewOf } from '../../src/platforms/compose/view.ts'
import { composeWorld, recorded } from '../platforms/compose/world.ts'
import { ownRegistry } from '../support/own-registry.ts'
import { freePort } from '../../src/lab/servers/local/ports.ts'
import { imageFetchContract } from './image-fetch.ts'
import type { Tag } from './image-fetch.ts'

const run = promisify(execFile)

describe('on recorded answers', () => {
  imageFetchContract(async () => {
    const at = '127.0.0.1:5711'
    const image = (tag: Tag, { isPrivate = false } = {}): string =>
      `${at}/${isPrivate ? 'private' : 'tools'}/testops-legacy:${tag}`
    const world = await composeWorld({
      containers: [await recorded('testops')],
      images: new Map(),
      registry: {
        [image('there')]: 'linux/amd64',
        [image('again')]: 'linux/amd64',
        [image('foreign')]: 'linux/arm64',
        [image('listed')]: { failure: 'no matching manifest for linux/amd64 in the manifest list entries' },
        [image('there', { isPrivate: true })]: {
          failure:
            `Error response from daemon: Head "http://${at}/v2/private/testops-legacy/manifests/there": no basic ` +
            'auth credentials',
        },
        '127.0.0.1:5799/tools/testops-legacy:1': {
          failure:
            'Error response from daemon: Get "http://127.0.0.1:5799/v2/": dial tcp 127.0.0.1:5799: connect: ' +
            'connection refused',
        },
        'nobody.invalid/tools/testops-legacy:1': {
          failure:
            'Error response from daemon: Get "https://nobody.invalid/v2/": dial tcp: lookup nobody.invalid on ' +
            '10.255.255.53:53: no such host',
        },
      },
    })
    const view = await viewOf(
      { project: null, file: null, service: null, build: null, cpuinfo: null, folder: world.folder },
      world.options,
    )
    return { view, image, refusing: '127.0.0.1:5799', unknown: 'nobody.invalid', close: async () => undefined }
  })
})

/** Null: none answers here. */
const version = await run('docker', ['info', '--format', '{{.ServerVersion}}']).then(
  ({ stdout }) => stdout.trim() || null,
  () => null,
)

describe.each(version === null ? [] : [version])('on the engine docker %s', () => {
  imageFetchContract(async () => {
    const registry = await ownRegistry()
    const engine = await findEngine({ timeoutMs: 30_000, environment: process.env })
    if (engine === null) throw new Error('there is no engine')
    const found = { project: 'none', service: 'testops', image: '', files: null, isDeclaredOnly: false }
    const view: View = { engine, found, containers: async () => ({ own: [], project: [] }), declared: async () => null }
    const image = (tag: Tag, { isPrivate = false } = {}): string =>
      `${registry.at}/${isPrivate ? 'private' : 'tools'}/testops-legacy:${tag}`
    return {
      view,
      image,
      refusing: `127.0.0.1:${await freePort()}`,
      unknown: 'nobody.invalid',
      async close() {
        await run('docker', [
          'rmi',
          '--force',
          ...(['there', 'again', 'foreign'] as const).map((tag) => image(tag)),
        ]).catch(() => undefined)
        await registry.close()
      },
    }
  })
})
