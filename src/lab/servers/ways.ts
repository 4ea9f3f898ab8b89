import { AdminError } from '../../core/error.ts'
import { givenVariable, givenVariableName, wayVariable } from './given.ts'
import { serverWays } from './types.ts'
import type { ServerRequest, ServerWay } from './types.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'

/**
 * A way to get servers does not work on this machine: why, and what would help. Any other error comes from the server
 * itself.
 */
export class NotThisWay extends AdminError {
  constructor(reason: string, suggestions: readonly Suggestion[]) {
    super('UNAVAILABLE', reason, suggestions)
  }
}

/** The ways to get the server, in the order to try them; only one if it is forced or given. Throws CONFIGURATION. */
export function waysToTry({ kind }: ServerRequest, environment: NodeJS.ProcessEnv): readonly ServerWay[] {
  const forced = environment[wayVariable]
  if (!forced) return givenVariable(kind, environment) ? ['given'] : serverWays.filter((way) => way !== 'given')
  const way = serverWays.find((way) => way === forced)
  if (!way) {
    const known = serverWays.join(', ')
    throw new AdminError('CONFIGURATION', `${wayVariable} is ${forced}; it must be one of ${known}`, [takeAnyWay])
  }
  if (way === 'given' && !givenVariable(kind, environment)) {
    const variable = givenVariableName(kind)
    throw new AdminError('CONFIGURATION', `${wayVariable} is given, but ${variable} is not set`, [
      useGiven(variable),
      takeAnyWay,
    ])
  }
  return [way]
}

/** Suggestions if none of these ways works: first what each way needs, then what avoids them all. */
export function suggestionsFor(
  { kind }: ServerRequest,
  failures: readonly unknown[],
  environment: NodeJS.ProcessEnv,
): readonly Suggestion[] {
  const opening = failures.flatMap((error) => (error instanceof AdminError ? error.suggestions : []))
  return [...new Set(opening), environment[wayVariable] ? takeAnyWay : useGiven(givenVariableName(kind))]
}

const takeAnyWay = command`unset ${wayVariable}   # tries every way that works here`

const useGiven = (variable: string): Suggestion => command`export ${variable}=${nested('…')}   # uses a running server`
