import type { RunError } from '../core/run.ts'
import type { Screen } from './paint.ts'
import { paintFor } from './paint.ts'
import { clip, hang, pad, printable, widthOf } from './text.ts'

/** What `deployments --json` prints. */
export interface DeploymentsDocument {
  schemaVersion: 1
  deployments: readonly {
    name: string
    source: 'configuration' | 'found' | 'lab'
    /** A file, or what was found, for people */
    where: string
    platform: string | null
    /** True if a command without -d uses it, also by TESTOPS_ADMIN_DEPLOYMENT */
    current: boolean
    /** Why its entry is wrong */
    error?: RunError
  }[]
  /** What says which one commands without -d use, if anything does: the variable comes before the configuration */
  chosenBy?: 'TESTOPS_ADMIN_DEPLOYMENT' | 'current'
  /** What commands without -d would use, but none of these has that name */
  missing?: string
}

/** What `use --json` prints. */
export interface UseDocument {
  schemaVersion: 1
  deployment: string
  file: string
  before: string | null
  outcome: 'done' | 'nothing-to-do'
}

/** Characters of an error that are shown; `doctor` for this deployment alone shows all */
const mostOfError = 200

/** Characters of a name that nothing has */
const mostOfName = 60

const headings = {
  configuration: 'In the configuration',
  found: 'Found without a configuration',
  lab: 'The practice deployment',
} as const

/** Returns the deployments by where they were found; a star marks the one that is used without -d. */
export function deploymentsText(document: DeploymentsDocument, screen: Screen): string {
  const { deployments } = document
  const width = Math.max(...deployments.map(({ name }) => widthOf(printable(name))))
  const paint = paintFor(screen)
  const blocks = (['configuration', 'found', 'lab'] as const).flatMap((source) => {
    const own = deployments.filter((it) => it.source === source)
    const [first] = own
    if (!first) return []
    const place = source === 'found' ? '' : ` (${printable(first.where)})`
    const lines = own.flatMap(({ name, platform, where, current, error }) => {
      const said = error
        ? `wrong: ${clip(error.message.replace(/\s+/g, ' '), mostOfError)}`
        : source === 'found'
          ? where
          : (platform ?? '')
      const head = `${current ? '*' : ' '} ${pad(printable(name), width)}  `
      const [line = '', ...rest] = hang(head, printable(said), screen.columns)
      return [current ? `${paint.strong(line.slice(0, head.length))}${line.slice(head.length)}` : line, ...rest]
    })
    return [[`${headings[source]}${place}:`, ...lines].join('\n')]
  })
  const end = `${absentText(document)}${nextText(document)}`
  return `${[...blocks, hang('', end, screen.columns).join('\n')].join('\n\n')}\n`
}

function absentText({ missing, chosenBy }: DeploymentsDocument): string {
  if (missing === undefined) return ''
  const whose = chosenBy === 'current' ? '`current` in the configuration' : chosenBy
  return `${whose} names \`${clip(printable(missing), mostOfName)}\`, but there is no such deployment. `
}

function nextText({ deployments, chosenBy }: DeploymentsDocument): string {
  if (chosenBy === 'TESTOPS_ADMIN_DEPLOYMENT') {
    return deployments.some(({ current }) => current)
      ? 'TESTOPS_ADMIN_DEPLOYMENT chooses the one with *. Name another with -d NAME.'
      : 'Name one with -d NAME, or correct the variable: unset TESTOPS_ADMIN_DEPLOYMENT'
  }
  if (!deployments.some(({ source }) => source === 'configuration'))
    return 'Name one with -d NAME. To choose one for all commands, write a configuration: testops-admin init'
  return deployments.some(({ current }) => current)
    ? 'The one with * is used if a command names none. Choose another: testops-admin use NAME'
    : 'Name one with -d NAME, or choose one for all commands: testops-admin use NAME'
}

/** Returns which deployment is used from now on. */
export function useText({ deployment, file, before, outcome }: UseDocument): string {
  const told =
    outcome === 'done'
      ? `Commands without -d now use ${deployment}${before === null ? '' : ` instead of ${before}`} (${file}).`
      : `Commands without -d already use ${deployment} (${file}).`
  return `${printable(told)}\n`
}
