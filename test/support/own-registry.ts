import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

interface Stored {
  type: string
  bytes: Buffer
}

const types = {
  manifest: 'application/vnd.docker.distribution.manifest.v2+json',
  list: 'application/vnd.docker.distribution.manifest.list.v2+json',
  config: 'application/vnd.docker.container.image.v1+json',
  layer: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
} as const

/**
 * Starts a registry in this process, at an address that engines accept without TLS. It serves the API of a pull
 * (distribution-spec, "Pull"). Below `tools` it has tags `there` and `again` for linux/amd64, `foreign` for
 * linux/arm64, and `listed`, a list of that image alone. Below `private` it requires a login.
 */
export async function ownRegistry(): Promise<{ at: string; close: () => Promise<void> }> {
  const blobs = new Map<string, Stored>()
  const keep = (type: string, bytes: Buffer): { mediaType: string; size: number; digest: string } => {
    const digest = digestOf(bytes)
    blobs.set(digest, { type, bytes })
    return { mediaType: type, size: bytes.length, digest }
  }
  const imageOf = (architecture: string): ReturnType<typeof keep> => {
    const tar = tarOf('hello', randomBytes(64))
    const layer = keep(types.layer, gzipSync(tar))
    const config = keep(
      types.config,
      json({ architecture, os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: [digestOf(tar)] } }),
    )
    return keep(types.manifest, json({ schemaVersion: 2, mediaType: types.manifest, config, layers: [layer] }))
  }
  const foreign = imageOf('arm64')
  const listed = keep(
    types.list,
    json({
      schemaVersion: 2,
      mediaType: types.list,
      manifests: [{ ...foreign, platform: { os: 'linux', architecture: 'arm64' } }],
    }),
  )
  const tags = new Map([
    ['there', imageOf('amd64')],
    ['again', imageOf('amd64')],
    ['foreign', foreign],
    ['listed', listed],
  ])
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const [, repository, , reference = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(path) ?? []
    const answer = (status: number, headers: Record<string, string>, body: Buffer): void => {
      response.writeHead(status, {
        'docker-distribution-api-version': 'registry/2.0',
        'content-length': String(body.length),
        ...headers,
      })
      response.end(request.method === 'HEAD' ? undefined : body)
    }
    const refused = (status: number, code: string, message: string, headers = {}): void =>
      answer(status, { 'content-type': 'application/json', ...headers }, json({ errors: [{ code, message }] }))
    if (repository === undefined) return answer(200, { 'content-type': 'application/json' }, json({}))
    if (repository.startsWith('private/'))
      return refused(401, 'UNAUTHORIZED', 'authentication required', { 'www-authenticate': 'Basic realm="own"' })
    const digest = tags.get(reference)?.digest ?? reference
    const stored = blobs.get(digest)
    if (!stored) return refused(404, 'MANIFEST_UNKNOWN', 'manifest unknown')
    answer(200, { 'content-type': stored.type, 'docker-content-digest': digest }, stored.bytes)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    at: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

/** Returns an archive of one file, in `ustar` format (POSIX.1-1988). */
function tarOf(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(512)
  head.write(name, 0)
  head.write(
    '0000644\0' +
      '0000000\0' +
      '0000000\0' +
      `${content.length.toString(8).padStart(11, '0')}\0` +
      '00000000000\0' +
      '        0',
    100,
  )
  head.write('ustar\0' + '00', 257)
  const sum = head.reduce((all, byte) => all + byte, 0)
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([head, content, Buffer.alloc(512 - (content.length % 512)), Buffer.alloc(1024)])
}
