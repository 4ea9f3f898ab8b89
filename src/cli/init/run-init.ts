import { resolve } from 'node:path'
import type { Environment } from '../../runtime/index.ts'
import type { Draft, KeptAnswers, Probe, ProbedPart } from '../../runtime/init/index.ts'
import type { InitDocument } from '../../output/init.ts'
import { defaultTimeoutSeconds, interruptible } from '../interrupt.ts'
import { AdminError } from '../../core/error.ts'
import type { Asker, Interview } from './interview.ts'
import { askForRest, personAt } from './interview.ts'
import { begin } from './begin.ts'
import { flagOf, withFlags } from './flags.ts'
import type { InitFlags } from './flags.ts'

/** What a run needs from its surroundings. */
export interface Around {
  environment: Environment
  workingDirectory: string
  /** Omitted if there is no terminal to ask on */
  askerWith?: ((kept: KeptAnswers) => Asker) | undefined
  progress: (message: string) => void
  signal: AbortSignal
  /** Directory where the kernel shows its processes; /proc if omitted */
  processRoot?: string
}

/** Address of any part, which lets the platform be tried alone: its own settings may name none */
const aside = { url: 'http://localhost' }
/** Milliseconds for each connection and each program of a trial, while somebody waits for the next question */
const trialMs = 2000

/** Finds a deployment, asks for what cannot be found, tries every part, and writes its configuration. */
export async function runInit(flags: InitFlags, progress: (message: string) => void): Promise<InitDocument> {
  return interruptible(async (signal) => {
    const canAsk = process.stdin.isTTY && process.stderr.isTTY && !flags.json
    const askerWith = canAsk
      ? (kept: KeptAnswers) => personAt({ input: process.stdin, output: process.stderr, signal }, kept)
      : undefined
    return initiated(flags, { environment: process.env, workingDirectory: process.cwd(), askerWith, progress, signal })
  })
}

/**
 * Runs `init` in the given surroundings. Throws REFUSED if the file exists, CONFIGURATION, USAGE, SECRET_MISSING,
 * INTERRUPTED. Keeps the answers given so far, and offers them again next time.
 */
export async function initiated(flags: InitFlags, around: Around): Promise<InitDocument> {
  const { assertNew, keptAnswers } = await import('../../runtime/init/index.ts')
  const { environment, workingDirectory, askerWith, progress } = around
  const file = resolve(workingDirectory, flags.output ?? 'testops-admin.yaml')
  await assertNew(file, environment)
  if (!askerWith) return written(flags, file, null, around)
  const kept = await keptAnswers(file, environment)
  if (kept.count() > 0)
    progress('Your answers to an earlier `init` are filled in. Press Enter to accept an answer, or Ctrl-U to clear it.')
  try {
    const document = await written(flags, file, askerWith(kept), around)
    await kept.forget()
    return document
  } catch (error) {
    if (kept.count() > 0)
      progress(
        kept.failure() === null
          ? 'Your answers are kept. The next `testops-admin init` offers them again.'
          : `Your answers cannot be kept: ${kept.failure()!}.`,
      )
    throw error
  }
}

async function written(
  flags: InitFlags,
  file: string,
  asker: Asker | null,
  { environment, workingDirectory, progress, signal, processRoot }: Around,
): Promise<InitDocument> {
  const { probe, problemOfName, selectedOf, writeNew } = await import('../../runtime/init/index.ts')
  const sourceOf = (path: readonly string[]): string => {
    const flag = flagOf(path, flags)
    return flag === undefined ? 'what was given' : `--${flag}`
  }
  const tried = async (draft: Draft, timeoutMs: number, parts?: readonly ProbedPart[]): Promise<Probe[]> =>
    probe(selectedOf(name, draft, file, sourceOf), { timeoutMs, environment, signal }, parts)
  const judging = { directory: workingDirectory, environment, tell: progress }
  const interview: Interview | null = asker && {
    ...judging,
    asker,
    tried: async (draft, part) =>
      (await tried(part === 'service' ? { ...aside, ...draft } : draft, trialMs, [part]))[0],
  }

  const problem = flags.name === undefined ? null : problemOfName(flags.name)
  if (problem !== null) throw new AdminError('CONFIGURATION', `--name ${problem}`)
  let name = flags.name ?? 'prod'
  const said = await withFlags({}, flags, judging)
  const begun = await begin(flags, said, { environment, workingDirectory, progress, signal, interview, processRoot })
  name =
    flags.name ??
    (asker
      ? await asker.text('name', 'Name of the deployment:', {
          usual: begun.name,
          problem: (answer) => sentence('The name', problemOfName(answer)),
        })
      : begun.name)

  const timeoutMs = (flags.timeout ?? defaultTimeoutSeconds) * 1000
  let { draft } = begun
  let probes = await tried(draft, timeoutMs)
  if (interview) {
    const asked = await askForRest(draft, probes, begun.withPassword, interview)
    if (asked !== draft) {
      draft = asked
      progress('Trying every part…')
      probes = await tried(draft, timeoutMs)
    }
  }
  await writeNew(file, name, draft, environment)
  return {
    schemaVersion: 1,
    file,
    deployment: name,
    platform: begun.platform,
    ...(begun.what !== null && { found: begun.what }),
    connections: probes,
  }
}

function sentence(subject: string, problem: string | null): string | null {
  return problem === null ? null : `${subject} ${problem}.`
}
