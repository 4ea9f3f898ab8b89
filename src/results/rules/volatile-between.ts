import { volatileLook } from '../looks/volatile-look.ts'
import type { Found } from '../problem.ts'
import type { ResultFile } from '../result-file.ts'
import { isSecretName } from '../../core/redaction/table.ts'
import { quoted } from './said.ts'

/**
 * Passes each parameter that may change between two runs to `add`, under a name that includes the test's full name. It
 * is volatile if the two runs have no value of that name in common. Skips values that `volatileParameter` reports
 * already, unless `isEarlier`. Skips tests without a full name, which cannot be told apart.
 */
export function parameterPairs(
  { content }: ResultFile,
  changing: ReadonlySet<string>,
  add: (name: string, value: string) => void,
  isEarlier = false,
): void {
  const { fullName, parameters, start, stop } = content
  if (!parameters || !fullName) return
  for (const parameter of parameters) {
    if (parameter?.name == null || parameter.excluded === true || changing.has(parameter.name)) continue
    const value = parameter.value ?? ''
    if (isEarlier || volatileLook(value, parameter.name, start ?? stop ?? null) === null)
      add(parameterKey(fullName, parameter.name), value)
  }
}

/** Returns the key of a test's parameter. */
export function parameterKey(fullName: string, name: string): string {
  return `${fullName}\0${name}`
}

/** Returns the key of a test's parameter with its value. */
export function pairOf(key: string, value: string): string {
  return `${key}\0${value}`
}

/** Returns the finding for a parameter without any of its previous values; `isHidden`: by `isSecretParameter`. */
export function volatileBetween(
  fullName: string,
  name: string,
  previousValues: readonly string[],
  currentValues: readonly string[],
  isHidden = false,
): Found {
  const values = isHidden || isSecretName(name) ? '' : `: ${told(previousValues)} before, ${told(currentValues)} now`
  return {
    message: `the parameter ${quoted(name, 80)} of ${quoted(fullName, 120)} differs from the previous run${values}`,
  }
}

function told(values: readonly string[]): string {
  return values.length > 1 ? `${quoted(values[0]!)} and ${values.length - 1} more` : quoted(values[0] ?? '')
}
