import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Stored } from './resources.ts'

/** An exchange with a Kubernetes 1.36 API server. */
export interface Recording {
  request: {
    method: string
    path: string
    contentType?: string
    body?: unknown
    as?: string
    headers?: Record<string, string>
  }
  response: { status: number; contentType: string; body: unknown }
  /** the same in other ways */
  others?: Omit<Recording, 'others'>[]
}

const folder = join(import.meta.dirname, '../fixtures/kubernetes')

export function recording(name: string): Recording {
  return JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as Recording
}

export function recordingNames(): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.replace(/\.json$/, ''))
}

/** The object that was answered with, or the items of the list. */
export function recordedObjects(name: string): Stored[] {
  const body = recording(name).response.body as Stored & { items?: Stored[] }
  if (body.items) return body.items
  const { kind: _kind, apiVersion: _apiVersion, ...object } = body
  return [object]
}

/** One that tells who owns which fields. */
export function fieldRecording<T = Recording>(name: string): T {
  return JSON.parse(readFileSync(join(folder, 'fields', `${name}.json`), 'utf8')) as T
}
