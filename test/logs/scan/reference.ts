import { spawnSync } from 'node:child_process'
import { unknownHosts } from '../../../src/knowledge/log-signatures.ts'
import { signatures } from '../../../src/knowledge/signatures.ts'
import { splitRecords } from '../../../src/logs/records.ts'

/** What is counted of one signature. */
export interface Counted {
  id: string
  count: number
  records: number
  first: Date | null
  last: Date | null
  hosts: Record<string, number>
}

/** A log taken apart into records, each line of which is looked at: a byte is a character. */
export function countsOf(
  log: Uint8Array,
  timeZone = 'UTC',
  isWanted: (at: Date | null) => boolean = () => true,
): Counted[] {
  const records = splitRecords(Buffer.from(log).toString('latin1'), timeZone).filter(({ at }) => isWanted(at))
  return signatures.flatMap(({ id, pattern }) => {
    const telling = records.filter(({ text }) => text.split('\n').some((line) => pattern.test(line)))
    const times = telling.flatMap(({ at }) => at?.getTime() ?? [])
    const names = id === 'unknown-host' ? telling.flatMap(({ text }) => unknownHosts(text)) : []
    const counted = {
      id,
      count: telling.flatMap(({ text }) => text.split('\n').filter((line) => pattern.test(line))).length,
      records: telling.length,
      first: times.length === 0 ? null : new Date(Math.min(...times)),
      last: times.length === 0 ? null : new Date(Math.max(...times)),
      hosts: Object.fromEntries(names.map((name) => [name, names.filter((it) => it === name).length])),
    }
    return telling.length === 0 ? [] : [counted]
  })
}

/** What grep counts of each signature in a file. */
export function grepCounts(file: string): Record<string, number> {
  return Object.fromEntries(
    signatures.flatMap(({ id, pattern }) => {
      const { stdout, status, stderr } = spawnSync(
        'grep',
        ['-a', '-c', '-E', ...(pattern.ignoreCase ? ['-i'] : []), '-e', pattern.source, '--', file],
        {
          encoding: 'utf8',
          env: { ...process.env, LC_ALL: 'C' },
        },
      )
      if (status !== 0 && status !== 1) throw new Error(`grep ended with ${String(status)}: ${stderr}`)
      return Number(stdout) === 0 ? [] : [[id, Number(stdout)] as const]
    }),
  )
}
