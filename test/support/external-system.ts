import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { createServer as createEncrypted } from 'node:https'
import type { ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

/** Returns the path of one of the tests' certificates. */
export function certificate(name: string): string {
  return fileURLToPath(new URL(`../fixtures/tls/${name}.pem`, import.meta.url))
}

export interface ExternalSystemServer {
  /** With the host name that its certificates are for */
  url: string
  port: number
  /** Requests so far, and their credentials */
  asked: { line: string; authorization: string | undefined }[]
}

/** Starts a real server on a free port that lives until the test ends, encrypted with the certificate of that name. */
export async function externalSystem(
  answer: RequestListener,
  encryptedWith?: string,
  options: ServerOptions = {},
): Promise<ExternalSystemServer> {
  const asked: ExternalSystemServer['asked'] = []
  const listener: RequestListener = (request, response) => {
    asked.push({ line: `${request.method} ${request.url}`, authorization: request.headers.authorization })
    answer(request, response)
  }
  const server =
    encryptedWith === undefined
      ? createServer(listener)
      : createEncrypted(
          {
            key: readFileSync(certificate('localhost-key')),
            cert: readFileSync(certificate(encryptedWith)),
            ...options,
          },
          listener,
        )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { url: `${encryptedWith === undefined ? 'http' : 'https'}://localhost:${port}`, port, asked }
}

/** Accepts requests with these credentials, and answers 401 to all others. */
export function guarded(authorization: string): RequestListener {
  return ({ headers }, response) => {
    const isIn = headers.authorization === authorization
    response
      .writeHead(isIn ? 200 : 401, { 'content-type': 'application/json' })
      .end(isIn ? '{"name":"bob"}' : '{"message":"authentication required"}')
  }
}

export function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}
