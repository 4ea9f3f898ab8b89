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

const sequences = [
  ...Array.from({ length: 20 }, (_, index) => sequenceFrom(`recorded ${index}`, 10)),
  // found by the campaign: env names that stand twice, some of whose fields somebody applied before
  ...['five 1345', 'five 1429'].map((seed) => sequenceFrom(seed)),
]

export async function recordingOf(oracle: Oracle): Promise<string> {
  const lines: string[] = []
  for (const sequence of sequences) {
    const recorded: RecordedSequence = { sequence, played: await oracle.play(sequence) }
    lines.push(JSON.stringify(recorded))
  }
  return `[\n${lines.join(',\n')}\n]\n`
}

export function recordedSequences(): RecordedSequence[] {
  return JSON.parse(readFileSync(recordingFile, 'utf8')) as RecordedSequence[]
}
