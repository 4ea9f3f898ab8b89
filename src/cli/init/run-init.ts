import { resolve } from 'node:path'
import type { PlatformName } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import type { Draft, Probe } from '../../runtime/index.ts'
import type { InitDocument } from '../../output/init.ts'
import { interruptible } from '../interrupt.ts'
import { askForRest } from './ask-for-rest.ts'
import type { Asker } from './ask.ts'
import { personAt } from './ask.ts'
import { namesPlace, platformIn, withFlags } from './flags.ts'
import type { InitFlags } from './flags.ts'
import { defaultTimeoutSeconds } from '../time-out.ts'
import { command } from '../../core/shell-command.ts'

/** What a run needs of the world around it. */
interface Around {
  environment: Readonly<Record<string, string | undefined>>
  workingDirectory: string
  /** null: there is no terminal to ask on */
  asker: Asker | null
  progress: (message: string) => void
  signal: AbortSignal
}

/** Finds a deployment, asks for what cannot be found, tries every part, and writes its configuration. */
export async function runInit(flags: InitFlags, progress: (message: string) => void): Promise<InitDocument> {
  return interruptible(async (signal) => {
    const canAsk = process.stdin.isTTY && process.stderr.isTTY && !flags.json
    const asker = canAsk ? personAt({ input: process.stdin, output: process.stderr, signal }) : null
    return initiated(flags, { environment: process.env, workingDirectory: process.cwd(), asker, progress, signal })
  })
}

/** The same in a world that is given. Throws REFUSED where the file is there, CONFIGURATION, USAGE, SECRET_MISSING, INTERRUPTED. */
export async function initiated(flags: InitFlags, around: Around): Promise<InitDocument> {
  const { assertNew, probe, selectedOf, writeNew } = await import('../../runtime/index.ts')
  const { environment, workingDirectory, asker, progress, signal } = around
  const file = resolve(workingDirectory, flags.output)
  await assertNew(file, environment)
  const begun = await begin(flags, around)
  const name = flags.name ?? (asker ? await asker.text('Name of the deployment:', { usual: begun.name }) : begun.name)
  const timeoutMs = (flags.timeout ?? defaultTimeoutSeconds) * 1000
  const tried = async (draft: Draft): Promise<Probe[]> => probe(selectedOf(name, draft, file), { timeoutMs, environment, signal })

  let draft = withFlags(begun.draft, flags, workingDirectory)
  let probes = await tried(draft)
  if (asker) {
    const asked = await askForRest(draft, probes, asker, workingDirectory)
    if (asked !== draft) {
      draft = asked
      progress('Trying every part…')
      probes = await tried(draft)
    }
  }
  await writeNew(file, name, draft, environment)
  return { schemaVersion: 1, file, deployment: name, platform: begun.platform, ...(begun.what !== null && { found: begun.what }), connections: probes }
}

interface Begun {
  name: string
  platform: PlatformName
  what: string | null
  draft: Draft
}

/** Where the service runs: as the flags say, else as it is found. Throws CONFIGURATION where that is not one place. */
async function begin(flags: InitFlags, { environment, workingDirectory, asker, progress, signal }: Around): Promise<Begun> {
  const platform = platformIn(flags)
  if (namesPlace(flags) || flags['database-url'] !== undefined) return { name: 'prod', what: null, platform: platform ?? 'host', draft: { platform: platform ?? 'host' } }
  const { discover, draftOf } = await import('../../runtime/index.ts')
  const { found: all, looked, unseen, next } = await discover({ environment, workingDirectory, signal })
  const found = all.filter((it) => platform === undefined || it.settings.platform === platform)
  const [first, ...others] = found
  if (!first) {
    if (asker) {
      for (const reason of looked) progress(`Looked in vain: ${reason}`)
      return asked(asker, platform)
    }
    throw new AdminError('CONFIGURATION', `no deployment was found${platform === undefined ? '' : ` on platform \`${platform}\``}: ${looked.join('; ')}`, [
      ...next,
      '--platform host --unit NAME',
      '--platform compose --compose-file FILE',
      '--platform kubernetes --namespace NAME --release NAME',
    ])
  }
  const named = others.length === 0 ? first : found.find((it) => it.name === (flags.deployment ?? flags.name))
  const taken = named ?? (asker ? await chooseOf(found, asker) : null)
  if (!taken) {
    const names = found.map(({ name, what }) => `\`${name}\`, the ${what}`).join('; ')
    throw new AdminError('CONFIGURATION', `several deployments are here: ${names}`, found.map(({ name }) => command`testops-admin init -d ${name}`))
  }
  progress(`Found ${taken.what}`)
  for (const reason of unseen) progress(`Not looked at: ${reason}`)
  return { name: taken.name, what: taken.what, platform: taken.settings.platform ?? 'host', draft: draftOf(taken) }
}

async function chooseOf<T extends { name: string; what: string }>(found: readonly T[], asker: Asker): Promise<T> {
  return asker.choice('Which deployment?', found.map((it) => ({ value: it, name: `${it.name}: ${it.what}` })))
}

/** Nothing was found: a person may know. */
async function asked(asker: Asker, known: PlatformName | undefined): Promise<Begun> {
  const choices: readonly { value: PlatformName; name: string }[] = [
    { value: 'host', name: 'on this machine' },
    { value: 'compose', name: 'under Docker Compose' },
    { value: 'kubernetes', name: 'on Kubernetes' },
  ]
  const platform = known ?? (await asker.choice('Nothing was found by itself. Where does the service run?', choices))
  const unit = platform === 'host' ? await asker.text('Its systemd unit (empty: there is none):') : ''
  return { name: 'prod', what: null, platform, draft: { platform, ...(unit !== '' && { host: { unit } }) } }
}
