import type { IncomingMessage } from 'node:http'
import { oneLine } from '../../adapters/failure.ts'
import { isRecord } from '../../adapters/http.ts'
import { AdminError } from '../../core/error.ts'
import type { Cause, Status } from './refusal.ts'

/** Reads the answers of the API server. */

const maxBytes = 100_000_000

export function isOk({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode < 300
}

export function statusIn(text: string, status: number): Status | null {
  // the answer for an API group that the server does not have
  if (status === 404 && text.trim() === '404 page not found')
    return { code: 404, reason: 'NotFound', message: text.trim() }
  const body = parsed(text)
  if (!isRecord(body) || body['kind'] !== 'Status') return null
  const { message, reason, code, details } = body
  const causes = isRecord(details) ? causesIn(details['causes']) : []
  return {
    code: typeof code === 'number' ? code : status,
    reason: textOf(reason, null),
    message: oneLine(textOf(message, '')),
    ...(causes.length > 0 && { causes }),
  }
}

const mostCauses = 100

function causesIn(causes: unknown): Cause[] {
  if (!Array.isArray(causes)) return []
  return causes
    .slice(0, mostCauses)
    .filter(isRecord)
    .map((it) => ({
      reason: textOf(it['reason'], ''),
      message: oneLine(textOf(it['message'], '')),
      field: oneLine(textOf(it['field'], '')),
    }))
}

function textOf<T>(value: unknown, otherwise: T): string | T {
  return typeof value === 'string' ? value : otherwise
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export async function bodyOf(answer: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxBytes)
      throw new AdminError('UNEXPECTED_ANSWER', `the API server's answer is too long: more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Returns at most the last `wanted` bytes of a text, in whole lines. */
export async function newestOf(
  answer: AsyncIterable<unknown>,
  wanted: number,
): Promise<{ complete: boolean; text: string }> {
  const chunks: Buffer[] = []
  let length = 0
  let dropped = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    length += chunk.length
    for (let first = chunks[0]; first && length - first.length > wanted; first = chunks[0]) {
      chunks.shift()
      length -= first.length
      dropped += first.length
    }
  }
  const all = Buffer.concat(chunks)
  const start = Math.max(0, all.length - wanted)
  if (start === 0 && dropped === 0) return { complete: true, text: new TextDecoder().decode(all) }
  const lines = all.subarray(start)
  return { complete: false, text: new TextDecoder().decode(lines.subarray(lines.indexOf(0x0a) + 1)) }
}
