import type { PlatformName } from '../../core/deployment.ts'
import { serviceName } from '../../knowledge/settings.ts'
import type { Draft } from '../../runtime/index.ts'
import { fieldOf, valueAt } from './flags.ts'
import type { Interview } from './interview.ts'
import { askFor, askUntilTried } from './interview.ts'

/** Asks where the service runs, once nothing was found. */
export async function askForPlatform(interview: Interview): Promise<PlatformName> {
  return interview.asker.choice<PlatformName>('platform', 'No deployment was found. Where does the service run?', [
    { value: 'host', name: 'on this machine' },
    { value: 'compose', name: 'under Docker Compose' },
    { value: 'kubernetes', name: 'on Kubernetes' },
  ])
}

/** Asks for what names the service on its platform, and tries it. */
export async function askForPlace(draft: Draft, platform: PlatformName, interview: Interview): Promise<Draft> {
  if (platform === 'host') return askForHost(draft, interview)
  const ask = async (): Promise<Draft> => {
    if (platform === 'kubernetes') return inTurn(draft, ['context', 'namespace', 'release'], interview)
    const withFile = await askFor(draft, 'compose-file', interview)
    const named = withFile === draft ? await askFor(draft, 'compose-project', interview) : withFile
    return named === draft ? draft : askFor(named, 'compose-service', interview, { usual: serviceName })
  }
  return askUntilTried(ask, draft, 'service', interview)
}

/** Of a service that runs on this machine: its unit, else its commands, its settings and its log. */
export async function askForHost(draft: Draft, interview: Interview): Promise<Draft> {
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
