import type { DoctorReport } from '../../core/check.ts'
import type { AdminError } from '../../core/error.ts'
import { withoutSecretsIn } from '../../core/redaction/document.ts'
import { doctorHtml } from '../../output/doctor/html.ts'
import { doctorJunit, doctorMarkdown, doctorPrometheus } from '../../output/doctor/formats.ts'
import type { FailOn } from '../../engine/report.ts'
import { reportIn } from '../../core/translation.ts'
import type { Translation } from '../../core/translation.ts'
import { plainScreen } from '../../output/paint.ts'
import { outputFiles, writeOutputFiles } from '../../runtime/output-file.ts'
import type { OutputFile } from '../../runtime/output-file.ts'
import { isDocument, isForPrograms, reportText } from './print.ts'
import type { DocumentFormat, Format } from './print.ts'

const documents = {
  html: doctorHtml,
  junit: doctorJunit,
  markdown: doctorMarkdown,
  prometheus: doctorPrometheus,
} as const

/** How a report is judged, and told. */
interface Judged {
  exitCode: number
  failOn: FailOn
  /** The language for people to read; formats for programs are English */
  translation?: Translation | null | undefined
}

/** Returns the report as a document for another program, without secrets. */
export function documentText(report: DoctorReport, format: DocumentFormat, judged: Judged): string {
  const { exitCode, failOn } = judged
  const shown = withoutSecretsIn(report)
  const view = { exitCode, areWarningsFailures: failOn !== 'error' }
  const translation = isForPrograms(format) ? null : judged.translation
  if (!translation) return documents[format](shown, view)
  const { texts, words: say } = translation
  return documents[format](reportIn(shown, translation), { ...view, language: texts.language, say })
}

const endings: Readonly<Record<string, Format | DocumentFormat>> = {
  '.html': 'html',
  '.json': 'json',
  '.md': 'markdown',
  '.prom': 'prometheus',
  '.txt': 'table',
  '.xml': 'junit',
}

type Outputs = readonly OutputFile<Format | DocumentFormat>[]

/** Returns the files that the report will be written to. Throws as `outputFiles`. */
export async function outputsOf(names: readonly string[]): Promise<Outputs> {
  return outputFiles(names, { endings, example: '--output report.md --output report.xml' })
}

/** Writes the report to each file. Returns why one was not written; null: all are. */
export async function writeOutputs(
  outputs: Outputs,
  report: DoctorReport,
  { verbose, ...judged }: Judged & { verbose: boolean },
): Promise<AdminError | null> {
  return writeOutputFiles(outputs, (format) =>
    isDocument(format)
      ? documentText(report, format, judged)
      : reportText(report, format, { ...judged, screen: plainScreen, verbose }),
  )
}
