import type { ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { openApi } from '../../src/adapters/api/index.ts'
import type { ApiEndpoint } from '../../src/core/endpoint.ts'
import type { ApiSource } from '../../src/core/sources.ts'
import { apiAt } from './endpoints.ts'
import type { ServiceOptions } from './service.ts'

/** Open until the test ends. */
export async function opened(baseUrl: string, of: Partial<ApiEndpoint> = {}): Promise<ApiSource> {
  const { source, close } = await openApi(apiAt(baseUrl, of), { timeoutMs: 3000 })
  onTestFinished(close)
  return source
}

/** A proxy's error page. */
export const html =
  '<html>\n<head><title>502 Bad Gateway</title><style>b{}</style></head>\n<body><h1>502 Bad Gateway</h1></body></html>'

/** Answers so. */
export function reply(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): (response: ServerResponse) => void {
  return (response) => response.writeHead(status, headers).end(body)
}

/** One path answers otherwise than the service does. */
export function instead(
  path: string,
  answer: (response: ServerResponse) => void,
): NonNullable<ServiceOptions['instead']> {
  return (request, response) => {
    if (request.url?.split('?')[0] !== path) return false
    answer(response)
    return true
  }
}
