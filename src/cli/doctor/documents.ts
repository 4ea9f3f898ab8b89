import { extname } from 'node:path'
import type { DoctorReport } from '../../core/check.ts'
import { AdminError } from '../../core/error.ts'
import { withoutSecretsIn } from '../../core/redaction/document.ts'
import { doctorJunit, doctorMarkdown, doctorPrometheus } from '../../output/doctor/formats.ts'
import type { FailOn } from '../../engine/report.ts'
import { plainScreen } from '../../output/paint.ts'
import { outputFile, writeOutput } from '../../runtime/output-file.ts'
import { isDocument, reportText } from './print.ts'
import type { DocumentFormat, Format } from './print.ts'

const documents = { junit: doctorJunit, markdown: doctorMarkdown, prometheus: doctorPrometheus } as const

/** How a report is judged. */
interface Judged {
  exitCode: number
  failOn: FailOn
}

/** Returns the report as a document for another program, without secrets. */
export function documentText(report: DoctorReport, format: DocumentFormat, { exitCode, failOn }: Judged): string {
  return documents[format](withoutSecretsIn(report), { exitCode, areWarningsFailures: failOn !== 'error' })
}

const endings: Readonly<Record<string, Format | DocumentFormat>> = {
  '.json': 'json',
  '.md': 'markdown',
  '.prom': 'prometheus',
  '.txt': 'table',
  '.xml': 'junit',
}

/** A file for the report, and its format. */
interface Output {
  /** Absolute */
  path: string
  format: Format | DocumentFormat
}

/**
 * Returns the files that the report will be written to. Throws USAGE for an ending that names no format, the same file
 * twice, and what is no file; FORBIDDEN, UNAVAILABLE if it cannot be written: better now than after a long diagnosis.
 */
export async function outputsOf(names: readonly string[]): Promise<Output[]> {
  const outputs = await Promise.all(
    names.map(async (name): Promise<Output> => {
      const format = endings[extname(name).toLowerCase()]
      if (format === undefined)
        throw new AdminError(
          'USAGE',
          `--output ${name.slice(0, 200)}: the ending of the name chooses the format, but this one chooses none. ` +
            `Use ${Object.keys(endings).join(', ')}`,
          ['testops-admin doctor --output report.md --output report.xml'],
        )
      return { path: await outputFile(name), format }
    }),
  )
  const twice = outputs.find(({ path }, index) => outputs.findIndex((it) => it.path === path) !== index)
  if (twice) throw new AdminError('USAGE', `--output names ${twice.path} twice: name each file once`, [])
  return outputs
}

/**
 * Writes the report to each file, in one step: a reader finds the former document or this one. Throws FORBIDDEN,
 * UNAVAILABLE once it has tried all.
 */
export async function writeOutputs(
  outputs: readonly Output[],
  report: DoctorReport,
  { verbose, ...judged }: Judged & { verbose: boolean },
): Promise<void> {
  const failures: unknown[] = []
  for (const { path, format } of outputs) {
    const text = isDocument(format)
      ? documentText(report, format, judged)
      : reportText(report, format, { screen: plainScreen, exitCode: judged.exitCode, verbose })
    await writeOutput(path, text).catch((error: unknown) => void failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}
