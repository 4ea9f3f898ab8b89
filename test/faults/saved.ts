import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import { withoutNumbers } from '../../src/engine/recording/redacted.ts'
import { readArchive } from '../../src/runtime/archive.ts'
import type { OwnLab } from '../lab/support/own-lab.ts'

/**
 * Saves a report of a lab, and holds what doctor says from it, without the lab, against what it said when the report
 * was made, word for word but for times, and its causes against those of shortly before.
 */
export async function lookAgain(lab: OwnLab, before: DoctorReport): Promise<void> {
  const archive = join(dirname(lab.root), `${randomUUID()}.tar.gz`)
  try {
    await lab.must('report', '-d', 'lab', '--output', archive)
    const { read } = await readArchive(archive, (name) => (name === 'doctor.json' ? 50_000_000 : null))
    const live = JSON.parse(read.get('doctor.json')!.toString()) as DoctorReport
    const { document: saved } = await lab.json<DoctorReport>('doctor', '--from', archive)
    expect(timeless(saved)).toEqual(timeless(withoutNumbers(live)))
    // consequences may have come since
    expect(saved.rootCauses).toEqual(before.rootCauses)
  } finally {
    await rm(archive, { force: true })
  }
}

/** Without what depends on the moment: durations, spans, seconds since 1970, and between when events are told. */
function timeless({ startedAt: _, durationMs: __, ...report }: DoctorReport): unknown {
  const text = JSON.stringify(report)
    .replace(/"durationMs":\d+/g, '"durationMs":0')
    .replace(/"from":"[^"]+","to":"[^"]+"/, '"from":"","to":""')
    .replace(/\b\d+(?:\.\d+)? (?:ms|s|min|h)\b(?: \d+ (?:s|min)\b)?/g, 'N s')
    .replace(/\b1[789]\d{8}\b/g, 'SECONDS')
  return JSON.parse(text) as unknown
}
