import { exitCodeOf } from '../../engine/report.ts'
import type { FailOn } from '../../engine/report.ts'
import { exitCodes } from '../../core/error.ts'
import { scanSummary } from '../../output/scan/document.ts'
import type { ScanDocument } from '../../output/scan/document.ts'
import { withInterrupts } from '../interrupt.ts'
import { scanDocument } from './document.ts'
import { deploymentSession, filesSession } from './session.ts'
import type { Session, SourceFlags } from './session.ts'
import { tellWhile } from './tell.ts'
import { isPiped, unreadNote } from '../piped.ts'
import { tellLine } from '../write.ts'

export interface ScanFlags extends SourceFlags {
  json: boolean
  'fail-on': FailOn
}

export interface Scanned {
  document: ScanDocument
  exitCode: number
}

/** so long nothing is said of a pipe in which nothing comes */
const patienceMs = 3000

/**
 * Scans what is named, `-` for standard input, or the log of a deployment. Throws USAGE, and what finding a deployment
 * throws.
 */
export async function runScan(names: readonly string[], flags: ScanFlags): Promise<Scanned> {
  const tell = (message: string): void => tellLine(process.stderr, message)
  if (names.length === 0 && isPiped()) tell(unreadNote('testops-admin scan-logs'))
  return withInterrupts(async (interrupted) => {
    const gone = new AbortController()
    // nobody reads any more, as after `head -1`
    process.stdout.once('error', () => gone.abort())
    const signal = AbortSignal.any([interrupted, gone.signal])
    const surroundings = { signal, tell, input: patient(process.stdin, tell, signal) }
    const session =
      names.length > 0 ? await filesSession(names, flags, surroundings) : await deploymentSession(flags, surroundings)
    try {
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

/** Says what is waited for, where nothing comes, and waits no longer than is wanted. */
async function* patient(
  input: NodeJS.ReadStream,
  tell: (message: string) => void,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const waiting = setTimeout(
    () => tell('Waiting for a log on standard input. To read another one, name files, or a deployment with -d.'),
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
