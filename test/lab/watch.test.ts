import { expect, test } from 'vitest'
import { sharedLab } from './support/own-lab.ts'

const timeoutMs = 180_000

const lab = sharedLab()

test(
  'a watch tells what breaks and what is mended, and ends with the exit code of the last report',
  async () => {
    const watch = lab.start('doctor', '-d', 'lab', '--watch', '--interval', '1')
    let said = ''
    watch.child.stdout?.on('data', (bytes: Buffer) => (said += bytes.toString()))
    const seen = async (text: RegExp): Promise<void> =>
      expect.poll(() => said, { timeout: 60_000, interval: 50 }).toMatch(text)
    /** what is said from now on: on its way a lab passes through other states */
    const after = async (...words: string[]): Promise<void> => {
      await lab.must(...words)
      said = ''
    }
    await seen(/Z Healthy: \d+ ok, \d skipped\.\n/)
    expect(said).not.toContain('error')

    await lab.must('lab', 'break', 'sessions-down')
    await seen(/Z 1 problem: sessions\/reachable\.\n\S+ \S+Z {3}✖ error +sessions\/reachable .* refused the connection/)
    await lab.must('lab', 'mend')
    await seen(/Z {3}✔ ok +sessions\/reachable/)
    await seen(/Z Healthy: \d+ ok, \d skipped\.\n$/)

    await after('lab', 'break', 'service-down')
    await seen(/Z 1 problem: service\/running\.\n/)
    watch.interrupt()
    const { exitCode, stderr } = await watch.ended
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' })
    await lab.must('lab', 'mend')
  },
  timeoutMs,
)
