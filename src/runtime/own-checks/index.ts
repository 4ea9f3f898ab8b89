import { basename } from 'node:path'
import { readJudged, whyUnreadable } from '../../adapters/read-file.ts'
import { distrusted, isTrusted, trustedByName } from '../../adapters/trust/assert.ts'
import type { Check, Outcome } from '../../core/check.ts'
import type { Deployment } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import { asPath, command } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import { onDeployment, withMoreTime } from '../../core/typed.ts'
import { Places } from '../../core/work.ts'
import type { Turn } from '../../core/work.ts'
import { ownCheckId } from '../../knowledge/check-ids.ts'
import type { ConfigurationRequest } from '../configuration/find.ts'
import { everyDeployment, findConfiguration } from '../configuration/load.ts'
import type { DeploymentSettings } from '../configuration/schema.ts'
import { knowSecrets } from '../configuration/secrets.ts'
import { isOfLab, selectDeployment } from '../configuration/select.ts'
import type { SelectedDeployment } from '../configuration/select.ts'
import type { Environment } from '../paths.ts'
import { declarationIn, offers, outcomeIn } from './contract.ts'
import type { Declared, OfferedName } from './contract.ts'
import type { OfferedSource, Question } from './conversation.ts'

/** Circumstances in which check files run. */
export interface OwnCheckOptions {
  /** Milliseconds that each check may take, from when it starts */
  deadlineMs: number
  /** For the processes, if other deployments use them as well */
  places?: Places | undefined
  /** The flags that name the deployment in commands; absent: as remedies do */
  on?: ShellCommand | undefined
  /** In which the trust of files by name is looked up */
  environment: Environment
  signal?: AbortSignal | undefined
}

/** Bytes of a check file, at most */
const mostBytes = 200_000
/**
 * Check files that are loaded or run at the same time. Each is a process of 45 MB or more, up to 512 MB: 8 of them
 * leave room on a small machine, and more only slow each other down.
 */
const mostAtOnce = 8
/** How many times its own deadline a check waits for its turn */
const mostRounds = 3
/** Milliseconds for a file to be loaded, at most */
const mostLoadMs = 5000
/** Milliseconds for the file of a secret to be read, at most: it may be a pipe without a writer */
const mostSecretMs = 1000

/**
 * Returns the checks of the files that a deployment's configuration names, in its order. Reads and runs nothing yet:
 * their `load` does, which judges a file as a configuration, and runs it in a process of its own.
 */
export function ownChecks({ settings }: Pick<SelectedDeployment, 'settings'>, options: OwnCheckOptions): Check[] {
  const { places = new Places(mostAtOnce) } = options
  const inTurn = places.line({ atOnce: mostAtOnce, waitMs: waitMsOf(options) })
  return (settings.checks ?? []).map(({ path }) => {
    const unread = { id: ownCheckId(path), title: `the check in ${basename(path)} passes`, reads: [], file: path }
    const run = async (): Promise<Outcome> => {
      throw new TypeError('a check file that was not loaded cannot run')
    }
    return {
      ...unread,
      run,
      async load() {
        const turn = turnOf(unread.id, inTurn, options)
        return turn(async () => loaded(unread, options, turn)).catch((error: unknown) => failing(unread, error))
      },
    }
  })
}

/**
 * Returns the own checks of the deployment of that name, else of the one that commands use, for a list: what is found
 * without a configuration has none. Throws as `selectDeployment` if some deployment has own checks.
 */
export async function ownChecksHere(
  request: ConfigurationRequest,
  name: string | undefined,
  { timeoutMs = mostLoadMs, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<Check[]> {
  const configuration = await findConfiguration(request)
  const deployments = configuration?.settings.deployments ?? new Map<string, DeploymentSettings>()
  if ([...deployments.values()].every(({ checks }) => checks === undefined)) return []
  if (name !== undefined && isOfLab(name) && !deployments.has(name)) return []
  const selected = selectDeployment(configuration!, name)
  const { environment } = request
  // no part is opened here, so no secret would be known: a check file could say one
  if (selected.settings.checks !== undefined)
    await knowSecrets(selected.settings, ['env', 'file'], { environment, timeoutMs: mostSecretMs, signal })
  const on = onDeployment(selected.name, request.file)
  return ownChecks(selected, { deadlineMs: timeoutMs, on, environment, signal })
}

/**
 * Returns the own checks of these deployments, each once, without reading their files. Null: of the one that commands
 * use, or of all if it is not clear which. A wrong entry hides no other. Throws CONFIGURATION for a file that is wrong
 * as a whole.
 */
export async function ownCheckFiles(
  request: ConfigurationRequest,
  names: readonly string[] | 'all' | null,
): Promise<{ id: string; file: string }[]> {
  const every = await everyDeployment(request)
  const chosen = names ?? (every?.current === undefined ? 'all' : [every.current])
  const files = [...(every?.deployments ?? [])].flatMap(([name, settings]) =>
    settings instanceof AdminError || (chosen !== 'all' && !chosen.includes(name)) ? [] : (settings.checks ?? []),
  )
  return [...new Map(files.map(({ path }) => [ownCheckId(path), path]))].map(([id, file]) => ({ id, file }))
}

type Unread = Pick<Check, 'id' | 'title' | 'reads'> & { file: string }

/** Milliseconds that checks wait for a turn while none ends in time. */
const waitMsOf = ({ deadlineMs }: OwnCheckOptions): number => deadlineMs * mostRounds

type TurnOf = <T>(work: () => Promise<T>) => Promise<T>

/** Returns what does work of a check when its turn comes. Throws TIMED_OUT, INTERRUPTED, and what the work throws. */
function turnOf(id: string, inTurn: Turn, options: OwnCheckOptions): TurnOf {
  const { deadlineMs, on, signal } = options
  const late = (): AdminError =>
    new AdminError(
      'TIMED_OUT',
      `check \`${id}\` did not start: for ${waitMsOf(options) / 1000} s, no own check ended in time`,
      [withMoreTime(id, deadlineMs, on)],
    )
  return async (work) =>
    inTurn(async () => {
      if (signal?.aborted) throw new AdminError('INTERRUPTED', `check \`${id}\` was interrupted`)
      return work()
    }, late)
}

/** Returns a check whose file cannot be loaded: its result is unknown. */
function failing(unread: Unread, error: unknown): Check {
  return {
    ...unread,
    unloaded: error,
    async run() {
      throw error
    },
  }
}

async function loaded(unread: Unread, options: OwnCheckOptions, turn: TurnOf): Promise<Check> {
  const { file, id } = unread
  const { deadlineMs, on, signal } = options
  const text = await textOf(file, options)
  const { converse } = await import('./conversation.ts')
  const loadMs = Math.min(mostLoadMs, deadlineMs)
  const said = await converse(
    { file, text, run: null },
    { what: `check file ${file}`, deadlineMs: loadMs, waitMs: loadMs, signal, answer: refuse },
  )
  const declared = declarationIn(said)
  if (typeof declared === 'string')
    throw new AdminError('CONFIGURATION', `check file ${file} ${declared}`, [
      'testops-admin init --template check   # prints a commented check',
    ])
  const run = async (sources: Readonly<Record<string, object>>, deployment: Deployment): Promise<Outcome> => {
    const outcome = await turn(async () =>
      converse(
        { file, text, run: { sources: offered(declared, sources), deployment: factsOf(deployment) } },
        {
          what: `check \`${id}\``,
          deadlineMs,
          waitMs: deadlineMs,
          ifLate: [withMoreTime(id, deadlineMs, on)],
          signal,
          answer: async (it) => answerTo(it, sources),
        },
      ),
    )
    const judged = outcomeIn(outcome)
    if (typeof judged !== 'string') return judged
    throw new AdminError('UNEXPECTED_ANSWER', `check \`${id}\` returned nonsense: ${judged}`, [
      command`less ${asPath(file)}`,
    ])
  }
  return { ...unread, ...declared, run, isTimed: true }
}

/** Throws CONFIGURATION for a file that others could have written, that is none, or that is too large. */
async function textOf(file: string, { environment }: OwnCheckOptions): Promise<string> {
  const byName = await trustedByName(environment)
  try {
    const content = await readJudged(file, mostBytes, (judgement) => {
      if (!isTrusted(judgement, byName)) throw distrusted('check file', file, file, judgement, environment)
    })
    if (content) return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch (error) {
    if (error instanceof AdminError) throw error
    const message = `cannot read check file ${file}: ${whyUnreadable(error)}`
    throw new AdminError('CONFIGURATION', message, [command`ls -ld ${asPath(file)}`], { cause: error })
  }
  throw new AdminError('CONFIGURATION', `check file ${file} is too large: it may have at most ${mostBytes} bytes`)
}

async function refuse(): Promise<never> {
  throw new AdminError('REFUSED', 'a check asks its sources in `run`')
}

const partsOf = (source: object | undefined): readonly object[] =>
  source === undefined ? [] : Array.isArray(source) ? (source as readonly object[]) : [source]

function offered(
  { reads }: Declared,
  sources: Readonly<Record<string, object>>,
): Readonly<Record<string, OfferedSource>> {
  return Object.fromEntries(
    (reads as readonly OfferedName[]).map((name) => {
      const { facts, questions } = offers[name]
      const parts = partsOf(sources[name]).map((part) =>
        Object.fromEntries(facts.map((fact) => [fact, Reflect.get(part, fact, part) as unknown])),
      )
      return [name, { parts, isList: Array.isArray(sources[name]), methods: Object.keys(questions) }]
    }),
  )
}

/** What a check is told of its deployment. */
function factsOf({ name, platform, timeZone }: Deployment): Pick<Deployment, 'name' | 'platform' | 'timeZone'> {
  return { name, platform, timeZone }
}

/** Asks a source what a check wants to know. Throws REFUSED if that is not offered, USAGE, and as the source. */
async function answerTo(
  { source, part, method, input }: Question,
  sources: Readonly<Record<string, object>>,
): Promise<unknown> {
  const from = Object.hasOwn(sources, source) ? partsOf(sources[source])[part] : undefined
  const questions: object = Object.hasOwn(offers, source) ? offers[source as OfferedName].questions : {}
  const shape = Object.entries(questions).find(([name]) => name === method)?.[1] as
    | (typeof offers)['logs']['questions']['recent']
    | undefined
  if (from === undefined || shape === undefined) throw new AdminError('REFUSED', 'a check may not ask this')
  const fault = shape(input, 'input')
  if (fault !== null) throw new AdminError('USAGE', `${source}.${method}: ${fault.toString()}`)
  const asked = Reflect.get(from, method, from) as (...all: readonly unknown[]) => Promise<unknown>
  return Reflect.apply(asked, from, [...input])
}
