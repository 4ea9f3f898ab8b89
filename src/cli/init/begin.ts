import type { PlatformName } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import { command } from '../../core/shell-command.ts'
import type { Environment } from '../../runtime/index.ts'
import type { Draft, ProbedPart } from '../../runtime/init/index.ts'
import { fieldOf, merged, namesPlace, platformIn, valueAt } from './flags.ts'
import type { InitFlags } from './flags.ts'
import type { Interview } from './interview.ts'
import { serviceName } from '../../knowledge/settings.ts'
import { askFor, askUntilTried } from './interview.ts'

/** Where the service runs, and what is known about it. */
export interface Begun {
  name: string
  platform: PlatformName
  /** What was found, in words for people; null if nothing was */
  what: string | null
  draft: Draft
  /** Parts that need a password, if no place was found that a configuration could name */
  withPassword: readonly ProbedPart[]
}

interface Around {
  environment: Environment
  workingDirectory: string
  progress: (message: string) => void
  signal: AbortSignal
  /** Null if there is nobody to ask */
  interview: Interview | null
  /** Directory where the kernel shows its processes; /proc if omitted */
  processRoot?: string | undefined
}

type Candidate = Omit<Begun, 'what'> & {
  what: string
  /** Laid under the draft if no file with the service's settings is known */
  addresses?: Draft
}

/**
 * Returns where the service runs: as the flags say, whose draft is `said`, else as found or asked for. Throws USAGE,
 * and CONFIGURATION unless that is exactly one place.
 */
export async function begin(flags: InitFlags, said: Draft, around: Around): Promise<Begun> {
  const { progress, interview } = around
  const platform = platformIn(flags)
  if (namesPlace(flags) || flags['database-url'] !== undefined)
    return {
      name: 'prod',
      what: null,
      platform: platform ?? 'host',
      draft: { platform: platform ?? 'host', ...said },
      withPassword: [],
    }
  const { found, looked, unseen, next } = await candidates(platform, around)
  const [first, ...others] = found
  if (!first) {
    if (interview) {
      for (const reason of looked) progress(`Found nothing: ${reason}`)
      return asked(said, platform, interview)
    }
    throw new AdminError(
      'CONFIGURATION',
      `no deployment was found${platform === undefined ? '' : ` on platform \`${platform}\``}: ${looked.join('; ')}`,
      [
        ...next,
        '--platform host --unit NAME',
        '--platform compose --compose-file FILE',
        '--platform kubernetes --namespace NAME --release NAME',
      ],
    )
  }
  const isSure = others.length === 0 && (first.addresses === undefined || !interview)
  const named = isSure ? first : found.find((it) => it.name === (flags.deployment ?? flags.name))
  const taken = named ?? (interview ? await chosen(found, interview) : null)
  if (taken === null && interview) return asked(said, platform, interview)
  if (!taken) {
    const names = found.map(({ name, what }) => `\`${name}\`, the ${what}`).join('; ')
    throw new AdminError(
      'CONFIGURATION',
      `found several deployments: ${names}`,
      found.map(({ name }) => command`testops-admin init -d ${name}`),
    )
  }
  progress(`Found ${taken.what}`)
  for (const reason of unseen) progress(`Not searched: ${reason}`)
  const { addresses, ...begun } = taken
  const draft = merged(begun.draft, said)
  if (addresses === undefined) return { ...begun, draft }
  const described = interview ? await askForHost(draft, interview) : draft
  // a file with the settings has the addresses too, and their passwords
  const isTold = valueAt(described, ['host', 'environmentFile']) !== undefined
  return isTold ? { ...begun, draft: described, withPassword: [] } : { ...begun, draft: merged(addresses, described) }
}

/** Finds all deployments, and processes on this machine if no unit there is the service. */
async function candidates(
  platform: PlatformName | undefined,
  { environment, workingDirectory, signal, processRoot }: Around,
): Promise<{
  found: Candidate[]
  looked: readonly string[]
  unseen: readonly string[]
  next: AdminError['suggestions']
}> {
  const { discover } = await import('../../runtime/index.ts')
  const { draftOf, findProcesses } = await import('../../runtime/init/index.ts')
  const discovery = await discover({ environment, workingDirectory, signal })
  const fits = (on: PlatformName): boolean => platform === undefined || platform === on
  const known = discovery.found.map(
    (it): Candidate => ({
      name: it.name,
      what: it.what,
      platform: it.settings.platform ?? 'host',
      draft: draftOf(it),
      withPassword: [],
    }),
  )
  const processes = fits('host') && known.every((it) => it.platform !== 'host') ? await findProcesses(processRoot) : []
  const found = [
    ...known.filter((it) => fits(it.platform)),
    ...processes.map((it): Candidate => ({ ...it, platform: 'host' })),
  ]
  return { ...discovery, found }
}

/** Asks which one is meant; null for "none of these", which is offered only beside a process. */
async function chosen(found: readonly Candidate[], { asker }: Interview): Promise<Candidate | null> {
  const none = found.some(({ addresses }) => addresses !== undefined) ? [{ value: null, name: 'none of these' }] : []
  return asker.choice('deployment', 'Which deployment?', [
    ...found.map((it) => ({ value: it, name: `${it.name}: ${it.what}` })),
    ...none,
  ])
}

/** Asks for the place: nothing was found, but a person may know. */
async function asked(said: Draft, known: PlatformName | undefined, interview: Interview): Promise<Begun> {
  const platform = known ?? (await askForPlatform(interview))
  return {
    name: 'prod',
    what: null,
    platform,
    draft: await askForPlace({ platform, ...said }, platform, interview),
    withPassword: [],
  }
}

/** Asks on which platform the service runs. */
async function askForPlatform(interview: Interview): Promise<PlatformName> {
  return interview.asker.choice<PlatformName>('platform', 'No deployment was found. Where does the service run?', [
    { value: 'host', name: 'on this machine' },
    { value: 'compose', name: 'under Docker Compose' },
    { value: 'kubernetes', name: 'on Kubernetes' },
  ])
}

/** Asks for what names the service on its platform, and tries it. */
async function askForPlace(draft: Draft, platform: PlatformName, interview: Interview): Promise<Draft> {
  if (platform === 'host') return askForHost(draft, interview)
  const ask = async (): Promise<Draft> => {
    if (platform === 'kubernetes') return inTurn(draft, ['context', 'namespace', 'release'], interview)
    const withFile = await askFor(draft, 'compose-file', interview)
    const named = withFile === draft ? await askFor(draft, 'compose-project', interview) : withFile
    return named === draft ? draft : askFor(named, 'compose-service', interview, { usual: serviceName })
  }
  return askUntilTried(ask, draft, 'service', interview)
}

/** Asks about a service on this machine: its unit, or else its commands, its settings and its log. */
async function askForHost(draft: Draft, interview: Interview): Promise<Draft> {
  const withUnit = await askUntilTried(async () => askFor(draft, 'unit', interview), draft, 'service', interview)
  if (withUnit !== draft) return withUnit
  const controlled = await askUntilTried(async () => askForCommands(draft, interview), draft, 'service', interview)
  const missing = ['environment-file', 'log-file'].filter(
    (flag) => valueAt(controlled, fieldOf(flag).path) === undefined,
  )
  return inTurn(controlled, missing, interview)
}

async function askForCommands(draft: Draft, interview: Interview): Promise<Draft> {
  const { initScript } = await import('../../runtime/index.ts')
  const script = await initScript()
  const usual = (word: string): { usual?: string } => (script === null ? {} : { usual: `${script} ${word}` })
  const started = await askFor(draft, 'start-command', interview, usual('start'))
  if (started === draft) return draft
  const stopped = await askFor(started, 'stop-command', interview, { ...usual('stop'), isNeeded: true })
  return askFor(stopped, 'status-command', interview, { ...usual('status'), isNeeded: true })
}

async function inTurn(draft: Draft, flags: readonly string[], interview: Interview): Promise<Draft> {
  let next = draft
  for (const flag of flags) next = await askFor(next, flag, interview)
  return next
}
