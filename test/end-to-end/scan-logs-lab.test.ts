import { expect, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import type { ScanDocument } from '../../src/output/scan/document.ts'
import { sharedLab } from '../lab/support/own-lab.ts'
import { faultsOf } from '../output/schemas.ts'

const timeout = 180_000
const host = 'tracker.practice.invalid'

const lab = sharedLab()

async function scan(...words: string[]): Promise<{ exitCode: number | null; document: ScanDocument }> {
  const { exitCode, document } = await lab.json<ScanDocument>('scan-logs', '-d', 'lab', ...words)
  expect(faultsOf('scan-logs', document)).toEqual([])
  return { exitCode, document }
}

test(
  'the healthy lab has nothing in its log but what is as it should be',
  async () => {
    const { exitCode, document } = await scan()
    expect([exitCode, document.matches.filter(({ severity }) => severity !== 'info'), document.unread]).toEqual([
      0,
      [],
      [],
    ])
    expect(document.lines).toBeGreaterThan(0)
  },
  timeout,
)

test(
  'an unknown host is named with its count, first and last, and doctor says the same',
  async () => {
    await lab.must('lab', 'break', 'unknown-host')
    const before = await scan()
    const { document: report } = await lab.json<DoctorReport>('doctor', '-d', 'lab', '--only', 'integrations/reachable')
    const after = await scan()
    expect([
      before.exitCode,
      before.document.matches
        .filter(({ severity }) => severity === 'error')
        .map(({ signature, check }) => [signature, check]),
    ]).toEqual([1, [['unknown-host', 'integrations/reachable']]])
    const [one, other] = [before, after].map(
      ({ document }) => document.matches.find(({ signature }) => signature === 'unknown-host')!,
    ) as [ScanDocument['matches'][number], ScanDocument['matches'][number]]
    expect(Object.keys(one.hosts!)).toEqual([host])
    const [finding] = report.checks[0]!.findings!
    // it goes on meanwhile, and may have said it once so far
    const {
      name,
      times,
      at,
      first = at,
      last = at,
    } = new RegExp(
      String.raw`^(?<name>\S+): java\.net\.UnknownHostException (?:once, at (?<at>\S+ \S+Z)|` +
        String.raw`(?<times>\d+) times, first (?<first>\S+ \S+Z), last (?<last>\S+ \S+Z));`,
    ).exec(finding?.message ?? '')?.groups ?? {}
    expect([name, first], finding?.message).toEqual([host, shown(one.first)])
    const said = Number.parseInt(times ?? '1')
    expect(said).toBeGreaterThanOrEqual(one.hosts![host]!)
    expect(said).toBeLessThanOrEqual(other.hosts![host]!)
    expect(last! >= shown(one.last) && last! <= shown(other.last)).toBe(true)
  },
  timeout,
)

function shown(iso: string | undefined): string {
  return `${iso!.slice(0, 19).replace('T', ' ')}Z`
}
