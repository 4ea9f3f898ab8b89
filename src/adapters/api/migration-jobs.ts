import type { MigrationJob } from '../../core/sources.ts'
import { isRecord } from '../http.ts'

/** A page of migration jobs, or a bare list as older servers give it (FIELD-NOTES.md 7), newest first; null: neither. */
export function migrationJobs(value: unknown): MigrationJob[] | null {
  const list = Array.isArray(value) ? value : isRecord(value) ? value['content'] : undefined
  if (!Array.isArray(list)) return null
  return list
    .filter(isRecord)
    .map((item) => ({
      id: Number(item['id'] ?? 0),
      name: textOf(item['name']),
      status: textOf(item['status']),
      createdAt: dateOf(item['createdDate']),
      modifiedAt: dateOf(item['lastModifiedDate']),
    }))
    .sort((a, b) => b.id - a.id)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function dateOf(value: unknown): Date | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null
  const date = new Date(value)
  return Number.isNaN(date.getTime()) ? null : date
}
