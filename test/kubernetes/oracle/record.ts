import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Oracle } from './index.ts'
import type { Played } from './played.ts'
import { sequenceFrom } from './writes.ts'
import type { Sequence } from './writes.ts'

/** A sequence of writes and what Kubernetes' own code made of each. */
export interface RecordedSequence {
  sequence: Sequence
  played: Played[]
}

/** Written by the campaign with `-u`. */
export const recordingFile = join(import.meta.dirname, '../../fixtures/kubernetes/fields/played.json')

const seeds = Array.from({ length: 20 }, (_, index) => `recorded ${index}`)

export async function recordingOf(oracle: Oracle): Promise<string> {
  const lines: string[] = []
  for (const seed of seeds) {
    const sequence = sequenceFrom(seed, 10)
    const recorded: RecordedSequence = { sequence, played: await oracle.play(sequence) }
    lines.push(JSON.stringify(recorded))
  }
  return `[\n${lines.join(',\n')}\n]\n`
}

export function recordedSequences(): RecordedSequence[] {
  return JSON.parse(readFileSync(recordingFile, 'utf8')) as RecordedSequence[]
}
