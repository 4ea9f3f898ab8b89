import type { ProgramResult } from '../../../adapters/process.ts'
import { oneLine } from '../../../adapters/failure.ts'
import { AdminError } from '../../../core/error.ts'
import type { ErrorCode } from '../../../core/error.ts'
import { typed } from '../../../core/typed.ts'
import type { ShellCommand, Suggestion } from '../../../core/shell-command.ts'

/** What helm was asked to do, and the commands about its release. */
export interface Attempt {
  verb: 'look' | 'trial' | 'upgrade' | 'rollback'
  /** `release testops in namespace testops` */
  target: string
  chart?: string
  helm: (verb: string, ...words: string[]) => ShellCommand
  kubectl: (...words: string[]) => ShellCommand
  /** Removes secrets from what helm says */
  hide: (text: string) => string
}

interface Reading {
  says: RegExp
  code: ErrorCode
  /** Replaces what helm says; `{said}` stands for that */
  message: string
  next: (attempt: Attempt) => readonly Suggestion[]
}

const history = ({ helm }: Attempt): ShellCommand => helm('history')
const charts = ({ chart = '' }: Attempt): Suggestion[] => [
  'helm repo list',
  ...(/^[\w-]+\/[\w-]+$/.test(chart) ? [typed(['helm', 'search', 'repo', chart, '--versions'])] : []),
  '--chart CHART, or kubernetes.chart in the configuration',
]

/** How to read what helm 3 and 4 say; the first that matches counts. */
const readings: readonly Reading[] = [
  {
    says: /another operation \(install\/upgrade\/rollback\) is in progress/,
    code: 'BUSY',
    message: 'another helm operation is running on {target}, or was killed before it finished',
    next: (of) => [history(of), 'wait until it has ended, then try again'],
  },
  {
    says: /context canceled|interrupt/i,
    code: 'INTERRUPTED',
    message: 'helm was interrupted: it recorded {target} as failed',
    next: (of) => [history(of)],
  },
  {
    says: /cluster unreachable|unable to connect to the server/i,
    code: 'UNREACHABLE',
    message: 'helm cannot reach the cluster: {said}',
    next: ({ kubectl }) => [kubectl('version')],
  },
  {
    says: /unauthorized|must be logged in/i,
    code: 'UNAUTHENTICATED',
    message: "the cluster rejects helm's credentials: {said}",
    next: ({ kubectl }) => [kubectl('auth', 'whoami')],
  },
  {
    says: /forbidden/i,
    code: 'FORBIDDEN',
    message: 'helm lacks a right: {said}',
    next: (of) => [of.kubectl('auth', 'whoami'), history(of)],
  },
  {
    says: /hooks? failed/i,
    code: 'FAILED',
    message: 'a hook of the chart failed at {target}: {said}',
    next: (of) => [of.kubectl('get', 'jobs,pods'), history(of)],
  },
  {
    says: /release: not found|has no deployed releases/,
    code: 'UNAVAILABLE',
    message: 'there is no {target}: {said}',
    next: () => ['helm list --all-namespaces --all'],
  },
  {
    says: /conflict/i,
    code: 'FAILED',
    message: 'others have set fields at {target} that the chart sets too: {said}',
    next: (of) => [history(of), of.kubectl('get', 'deployments', '-o', 'yaml', '--show-managed-fields')],
  },
]

const ofChart: readonly Reading[] = [
  {
    says: /dial tcp|no such host|connection refused|i\/o timeout|x509|cannot be reached|TLS handshake|deadline exceeded/i,
    code: 'UNREACHABLE',
    message: 'the repository of chart {chart} cannot be reached: {said}',
    next: charts,
  },
  {
    says: /(?:repo|path|chart|version|manifest)(?:(?!repo|path|chart|version|manifest).)*not found|no chart (name|version) found|Chart\.yaml file is missing|failed to (download|perform|fetch)|not a (valid )?chart|unable to detect chart|non-absolute URLs|no such file/i,
    code: 'UNAVAILABLE',
    message: 'chart {chart} cannot be fetched: {said}',
    next: charts,
  },
]

/** Returns the error that explains how helm ended. */
export function helmFailure(attempt: Attempt, result: ProgramResult): AdminError {
  const { verb, target, chart = '', hide } = attempt
  const all = result.stderr.trim() === '' ? result.stdout : result.stderr
  const from = all.search(/^Error: /m)
  const said = oneLine(
    hide((from < 0 ? all : all.slice(from)).replace(/^Error: ((INSTALLATION|UPGRADE) FAILED: )?/, '')),
  ).slice(0, 500)
  const found = [...(verb === 'trial' ? ofChart : []), ...readings, ...(verb === 'upgrade' ? ofChart : [])].find(
    ({ says }) => says.test(said),
  )
  const fill = (text: string): string =>
    text.replaceAll(
      /\{(target|chart|said)\}/g,
      (_, name: 'target' | 'chart' | 'said') => ({ target, chart, said })[name],
    )
  if (found) return new AdminError(found.code, fill(found.message), found.next(attempt))
  const end = said === '' ? `helm exited with ${result.exitCode ?? result.signal}` : said
  if (verb === 'look')
    return new AdminError('UNEXPECTED_ANSWER', `helm cannot show ${target}: ${end}`, [history(attempt)])
  if (verb === 'trial')
    return new AdminError('REFUSED', `helm cannot render chart ${chart} with these values: ${end}`, [])
  return new AdminError('FAILED', `helm ${verb} failed at ${target}: ${end}`, [history(attempt)])
}
