import { describe, expect, test } from 'vitest'
import { tellerOn } from '../../../src/cli/repair/progress.ts'

const clear = '\r\u001b[2K'

function stream(isTTY: boolean): { isTTY: boolean; columns: number; written: string[]; write: (text: string) => void } {
  const written: string[] = []
  return { isTTY, columns: 60, written, write: (text) => void written.push(text) }
}

describe('a long work', () => {
  test('is one line that moves on a terminal, and makes room for lines that stay', () => {
    const terminal = stream(true)
    let at = 0
    const { moving, say } = tellerOn(terminal, () => at)
    const steps = [
      [0, 2000],
      [50, 4000],
      [2000, 400_000],
      [4000, 1_200_000],
    ] as const
    for (const [time, done] of steps) {
      at = time
      moving({ done, total: 1_200_000, unit: 'keys' })
    }
    say('done')
    say('next')
    expect(terminal.written).toEqual([
      `${clear}    2,000 of 1,200,000 keys`,
      `${clear}    400,000 of 1,200,000 keys, 200,000/s, 4 s left`,
      `${clear}    1,200,000 of 1,200,000 keys, 300,000/s`,
      clear,
      'done\n',
      'next\n',
    ])
  })

  test('is a plain line every 10 s elsewhere, anew for each work', () => {
    const file = stream(false)
    let at = 0
    const { moving } = tellerOn(file, () => at)
    for (at = 0; at <= 25_000; at += 1000) moving({ done: 4 * at, total: 400_000, unit: 'messages' })
    for (at = 30_000; at <= 41_000; at += 1000) moving({ done: at - 30_000, total: 7_200_000, unit: 'messages' })
    expect(file.written).toEqual([
      '    40,000 of 400,000 messages, 4,000/s, 2 min left\n',
      '    80,000 of 400,000 messages, 4,000/s, 2 min left\n',
      '    10,000 of 7,200,000 messages, 1,000/s, 2 h left\n',
    ])
  })
})
