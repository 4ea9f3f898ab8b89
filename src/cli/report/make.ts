import { checks } from '../../checks/index.ts'
import { AdminError } from '../../core/error.ts'
import { withoutSecretsIn } from '../../core/redaction/document.ts'
import { bytes as sized, parseBytes } from '../../core/format.ts'
import { command } from '../../core/shell-command.ts'
import { askMore, contentsOf } from '../../engine/recording/contents.ts'
import type { Gap } from '../../engine/recording/contents.ts'
import { recordSources } from '../../engine/recording/record.ts'
import { redacted, withoutNumbers } from '../../engine/recording/redacted.ts'
import type { CleanFile } from '../../engine/recording/redacted.ts'
import { exitCodeOf } from '../../engine/report.ts'
import { plainScreen } from '../../output/paint.ts'
import type { MadeReport, ReportManifest } from '../../output/report.ts'
import { chosenDeployment } from '../chosen-deployment.ts'
import { reportText } from '../doctor/print.ts'
import type { CommandOf } from '../doctor/rights.ts'
import { diagnosis } from '../doctor/session.ts'
import { deadlineSlackMs } from '../../core/work.ts'
import { defaultTimeoutSeconds, interruptible, withInterrupts, relayOf } from '../interrupt.ts'
import { manifestFile, removedFile, textFile } from './read.ts'

/** The flags of `report`. */
export interface ReportFlags {
  deployment?: string | undefined
  config?: string | undefined
  timeout?: number | undefined
  relay?: boolean
  output?: string | undefined
  'max-size': string
}

/**
 * Diagnoses a deployment and writes what was seen into an archive. Throws USAGE for a size that is wrong or too small,
 * and what finding and opening a deployment, and writing a file, throw.
 */
export async function makeReport(flags: ReportFlags, version: string, commandOf: CommandOf): Promise<MadeReport> {
  const most = parseBytes(flags['max-size'])
  if (most === null)
    throw new AdminError('USAGE', `--max-size ${flags['max-size'].slice(0, 100)} is not a size: write it as 50MB`)
  const run = flags.relay === true ? withInterrupts : interruptible
  return run(async (signal) => {
    const at = new Date()
    const [{ openDeployment, ownChecks }, { assertNew, writeArchive }] = await Promise.all([
      import('../../runtime/index.ts'),
      import('../../runtime/archive.ts'),
    ])
    const { deployment: name, config, relay, timeout = defaultTimeoutSeconds } = flags
    const selected = await chosenDeployment({ deployment: name, config }, signal)
    const folder = `testops-report-${fileWord(selected.name)}-${stamp(at)}`
    const path = flags.output ?? `${folder}.tar.gz`
    await assertNew(path)
    const timeoutMs = timeout * 1000
    const deadlineMs = timeoutMs + deadlineSlackMs
    const opened = await openDeployment(selected, {
      timeoutMs,
      environment: process.env,
      config,
      signal,
      ...relayOf({ relay }, { mayMakePods: true, isLasting: false }),
    })
    try {
      const recorder = recordSources(opened.open)
      const examined = diagnosis({
        checks: [...checks, ...ownChecks(selected, { deadlineMs, environment: process.env, signal })],
        open: async () => ({ ...opened, open: recorder.open }),
        deadlineMs,
        past: 'always',
        commandOf,
        signal,
      })
      const report = await examined.examine()
      const gaps = await askMore(recorder.open, deadlineMs)
      signal.throwIfAborted()
      const { deployment, commands } = opened
      const contents = contentsOf({ recording: recorder.recording(), deployment, commands, report, deadlineMs })
      const exitCode = exitCodeOf(report)
      const diagnosed = reportText(report, 'table', { screen: plainScreen, exitCode, verbose: true })
      const { files, removed } = redacted([{ name: textFile, text: diagnosed }, ...contents])
      const { kept, leftOut } = within(most, files)
      const manifest: ReportManifest = {
        schemaVersion: 1,
        kind: 'testops-admin report',
        version,
        createdAt: at.toISOString(),
        deployment: deployment.name,
        platform: deployment.platform,
        build: report.build,
        summary: report.summary,
        rootCauses: report.rootCauses,
        exitCode,
        gaps: [...gaps, ...leftOut],
        secrets: removed.length,
        files: kept.map(({ name: file, text }) => ({ name: file, bytes: Buffer.byteLength(text) })),
      }
      const all = [
        jsonFile(manifestFile, `${JSON.stringify(withoutSecretsIn(withoutNumbers(manifest)), null, 1)}\n`),
        ...kept,
        jsonFile(removedFile, `${JSON.stringify(removed, null, 1)}\n`),
      ]
      const bytes = await writeArchive(path, {
        folder,
        files: all.map((file) => ({ name: file.name, bytes: Buffer.from(file.text) })),
        at,
        signal,
      })
      const places = removed.reduce((sum, { count }) => sum + count, 0)
      return { ...manifest, file: path, bytes, places }
    } finally {
      await opened.close()
    }
  })
}

const jsonFile = (name: string, text: string): CleanFile => ({ name, text })

const fileWord = (name: string): string => name.replace(/[^\w.-]+/g, '_').slice(0, 60)

/** `20261128T0233Z` */
function stamp(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace(/[-:]/g, '')}Z`
}

/** Files without which a report is none. */
const needed = 3

/** Returns the files that fit, and which do not. Throws USAGE if not even the answers do. */
function within(most: number, files: readonly CleanFile[]): { kept: CleanFile[]; leftOut: Gap[] } {
  const kept: CleanFile[] = []
  const leftOut: Gap[] = []
  const least = files.slice(0, needed).reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  if (least > most)
    throw new AdminError(
      'USAGE',
      `--max-size is too small: the diagnosis and the answers that it rests on take ${sized(least)}`,
      [command`testops-admin report --max-size ${`${Math.ceil(least / 1e6)}MB`}`],
    )
  let size = 0
  for (const file of files) {
    const length = Buffer.byteLength(file.text)
    if (size + length <= most) {
      kept.push(file)
      size += length
    } else leftOut.push({ what: file.name, why: `its ${sized(length)} exceed --max-size` })
  }
  return { kept, leftOut }
}
