import type { Certificate, IntegrationCause, IntegrationStep } from '../core/external-system.ts'
import { paintFor } from './paint.ts'
import type { Screen } from './paint.ts'
import { hang, pad, printable } from './text.ts'
import { command } from '../core/shell-command.ts'

export interface CheckedIntegration {
  /** Its name in the configuration; null if it has none there */
  name: string | null
  url: string
  from: 'flag' | 'configuration' | 'log'
  verdict: 'ok' | 'warning' | 'problem' | 'unknown'
  /** Why it cannot connect, or soon may not; the cause to deal with first comes first */
  causes: readonly IntegrationCause[]
  steps: readonly IntegrationStep[]
  /** The server's own; null if it shows none */
  certificate: Certificate | null
}

/** What `check-integration --json` prints. */
export interface IntegrationDocument {
  schemaVersion: 1
  /** The deployment whose log and network were used too; null if there is none */
  deployment: string | null
  integrations: readonly CheckedIntegration[]
}

/** Returns 1, 3 or 2, the first that applies (DESIGN.md 3); 3 if there was nothing to check. */
export function integrationExitCode({ integrations }: IntegrationDocument): number {
  const has = (verdict: CheckedIntegration['verdict']): boolean => integrations.some((it) => it.verdict === verdict)
  if (has('problem')) return 1
  if (has('unknown') || integrations.length === 0) return 3
  return has('warning') ? 2 : 0
}

/** Adds the verdict, the gravest status of the steps, and the causes. */
export function checked(it: Omit<CheckedIntegration, 'verdict' | 'causes'>): CheckedIntegration {
  const verdict =
    (['problem', 'unknown', 'warning'] as const).find((status) => it.steps.some((step) => step.status === status)) ??
    'ok'
  const grave = it.steps
    .filter(({ status }) => status === 'problem')
    .concat(it.steps.filter(({ status }) => status === 'warning'))
  return { ...it, verdict, causes: [...new Set(grave.flatMap(({ cause }) => cause ?? []))] }
}

const advice: Readonly<Record<IntegrationCause, { text: string; explain: string }>> = {
  credentials: {
    text:
      "Credentials: enter them again in the integration's settings, with no spaces or invisible characters at " +
      'either end.',
    explain: 'integrations/credentials',
  },
  connectivity: {
    text: 'Connectivity: the problem is the host name, network, proxy or certificate, not the credentials.',
    explain: 'integrations/reachable',
  },
  api: {
    text:
      'API: the external system answers, but not as the integration expects. First check the address, then what ' +
      'the last update of that system changed.',
    explain: 'integrations/answers',
  },
}

/** Returns each external system with a line for each step, and what to do. */
export function integrationText({ integrations }: IntegrationDocument, screen: Screen): string {
  if (integrations.length === 0)
    return (
      'Neither the configuration nor the log names an external system. Name one: testops-admin check-integration ' +
      '--url URL\n'
    )
  return `${integrations.map((it) => textOf(it, screen).join('\n')).join('\n\n')}\n`
}

function textOf({ name, url, from, steps, causes }: CheckedIntegration, screen: Screen): string[] {
  const paint = paintFor(screen)
  const signs = {
    ok: paint.good('✔'),
    problem: paint.bad('✖'),
    warning: paint.warn('!'),
    unknown: paint.doubt('?'),
    skipped: paint.faint('-'),
  }
  const width = Math.max(...steps.map(({ step }) => step.length))
  const source = { flag: '', configuration: ' (from the configuration)', log: ' (from the log)' }[from]
  const lines = steps.flatMap(({ step, status, message, next = [] }) => {
    const [first = '', ...more] = hang(`  ${pad(step, width)}  `, printable(message), screen.columns)
    return [
      `${signs[status]} ${first.slice(2)}`,
      ...more,
      ...(status === 'ok' ? [] : next.map((command) => `      ${printable(command)}`)),
    ]
  })
  const told = causes
    .map((cause) => advice[cause])
    .flatMap(({ text, explain }) => [...hang('', text, screen.columns), command`    testops-admin explain ${explain}`])
  return [
    paint.strong(printable(`${name === null ? '' : `${name}: `}${url}${source}`)),
    ...lines,
    ...(told.length > 0 ? ['', ...told] : []),
  ]
}
