import { exitCodeOf } from '../../engine/report.ts'
import type { FailOn } from '../../engine/report.ts'
import { exitCodes } from '../../core/error.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { withoutSecretsIn } from '../../core/redaction/document.ts'
import { plainScreen } from '../../output/paint.ts'
import type { Screen } from '../../output/paint.ts'
import { scanSummary } from '../../output/scan/document.ts'
import type { ScanDocument } from '../../output/scan/document.ts'
import { endWith } from '../failure.ts'
import { pause, withInterrupts } from '../interrupt.ts'
import { scanDocument } from './document.ts'
import { deploymentSession, filesSession } from './session.ts'
import type { Session, SourceFlags } from './session.ts'
import { screenOf, isPiped, unreadNote, cursor, draw, jsonText, print, tellLine } from '../write.ts'
import { scanChanges, scanRows, scanText } from '../../output/scan/text.ts'
import type { CursorMove, Printer } from '../write.ts'

export const scanFormats = ['table', 'html', 'json'] as const
type ScanFormat = (typeof scanFormats)[number]

const endings: Readonly<Record<string, ScanFormat>> = { '.html': 'html', '.json': 'json', '.txt': 'table' }

interface ScanFlags extends SourceFlags {
  json: boolean
  format: ScanFormat
  output?: readonly string[] | undefined
  'fail-on': FailOn
}

interface Scanned {
  document: ScanDocument
  exitCode: number
}

/** Milliseconds without input before a pipe is said to be silent */
const patienceMs = 3000

/**
 * Scans the named files, `-` for standard input, or the log of a deployment; prints what it found and writes it to
 * files, without secrets; returns the exit code. Throws USAGE, and what finding a deployment and writing files throws.
 */
export async function scanAs(names: readonly string[], flags: ScanFlags): Promise<number> {
  const format = flags.json ? 'json' : flags.format
  const files = flags.output === undefined ? null : await import('../../runtime/output-file.ts')
  const outputs = await files?.outputFiles(flags.output ?? [], {
    endings,
    example,
    inputs: names.filter((name) => name !== '-'),
  })
  const { document, exitCode } = await runScan(names, { ...flags, json: format !== 'table' }, async (read) =>
    files?.refuseInputs(outputs ?? [], read, example),
  )
  const shown = withoutSecretsIn(document)
  const isPage = [format, ...(outputs ?? []).map((it) => it.format)].includes('html')
  const page = isPage ? await import('../../output/scan/html.ts') : null
  const textOf = (format: ScanFormat, screen: Screen, endsWith = exitCode): string =>
    ({
      table: () => scanText(shown, { screen, exitCode: endsWith }),
      html: () => page!.scanHtml(shown, endsWith),
      json: () => jsonText(shown),
    })[format]()
  const failure = (await files?.writeOutputFiles(outputs ?? [], (format) => textOf(format, plainScreen))) ?? null
  print(process.stdout, textOf(format, screenOf(process.stdout), failure?.exitCode))
  if (failure) return endWith(failure, { isJson: format === 'json' })
  return exitCode
}

const example: Suggestion = 'testops-admin scan-logs -d prod --output log.html'

/** `before`: called with the files of the log before any is read. */
async function runScan(
  names: readonly string[],
  flags: ScanFlags,
  before: (files: readonly string[]) => Promise<void>,
): Promise<Scanned> {
  const tell = (message: string): void => tellLine(process.stderr, message)
  if (names.length === 0 && isPiped()) tell(unreadNote('testops-admin scan-logs'))
  return withInterrupts(async (interrupted) => {
    const gone = new AbortController()
    // the reader is gone, as after `head -1`
    process.stdout.once('error', () => gone.abort())
    const signal = AbortSignal.any([interrupted, gone.signal])
    const surroundings = { signal, tell, input: patient(process.stdin, tell, signal) }
    const session =
      names.length > 0 ? await filesSession(names, flags, surroundings) : await deploymentSession(flags, surroundings)
    try {
      await before(session.inputs.files ?? [])
      return await scanned(session, flags, signal, () => interrupted.aborted)
    } finally {
      await session.close()
    }
  })
}

async function scanned(
  { inputs, about }: Session,
  flags: ScanFlags,
  signal: AbortSignal,
  isInterrupted: () => boolean,
): Promise<Scanned> {
  const { startScan } = await import('../../runtime/scan/index.ts')
  const run = startScan(inputs.parts, inputs.following, { ...about, signal })
  const found = (): ScanDocument => scanDocument(run.result(), about)
  const over = new AbortController()
  const told =
    flags.follow && !flags.json ? tellWhile(found, process.stdout, AbortSignal.any([signal, over.signal])) : null
  await run.ended
  over.abort()
  await told
  const isCut = isInterrupted() && !flags.follow
  const document = scanDocument(run.result(), about, isCut)
  return {
    document,
    exitCode: isCut ? exitCodes.INTERRUPTED : exitCodeOf({ summary: scanSummary(document) }, flags['fail-on']),
  }
}

/** Yields the input. Says what it waits for if nothing comes, and stops waiting when the signal aborts. */
async function* patient(
  input: NodeJS.ReadStream,
  tell: (message: string) => void,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const waiting = setTimeout(
    () => tell('Waiting for a log on standard input. To read another log, name files, or a deployment with -d.'),
    input.isTTY ? 0 : patienceMs,
  )
  const end = (): void => void input.destroy()
  signal.addEventListener('abort', end)
  try {
    for await (const block of input as AsyncIterable<Uint8Array>) {
      clearTimeout(waiting)
      yield block
    }
  } finally {
    clearTimeout(waiting)
    signal.removeEventListener('abort', end)
  }
}

interface Output extends Printer {
  rows?: number
}

const everyMs = 1000

/**
 * Shows findings as they come, until the signal aborts. A terminal gets a table that is redrawn and removed at the end;
 * other outputs get a line for each change.
 */
export async function tellWhile(document: () => ScanDocument, output: Output, signal: AbortSignal): Promise<void> {
  const screen = screenOf(output)
  const isDrawn = output.isTTY === true && screen.colour
  let before: ScanDocument | null = null
  let drawn = 0
  const clear = (): CursorMove => (drawn === 0 ? cursor.stay : cursor.back(drawn - 1))
  const look = (): void => {
    const now = document()
    if (isDrawn) {
      const lines = scanRows(now, screen, output.rows ?? 24)
      draw(output, clear(), lines.join('\n'))
      drawn = lines.length
    } else for (const line of scanChanges(now, before)) tellLine(output, line)
    before = now
  }
  while (await pause(everyMs, signal)) look()
  if (isDrawn) draw(output, clear(), '')
}
