import { volatileLook } from '../looks/volatile-look.ts'
import type { Found } from '../problem.ts'
import type { ResultFile } from '../result-file.ts'
import { isSecretName } from '../../core/redaction/table.ts'
import { quoted } from './said.ts'

/**
 * What may change between two runs of a test: each parameter that counts, by a name that holds the test's full name as
 * well. Where the two runs have no value of such a name in common, it is volatile. What looks so by itself is told of
 * already (`volatileParameter`), unless it `isEarlier`, and a test without a full name is told from no other.
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

/** A parameter of a test. */
export function parameterKey(fullName: string, name: string): string {
  return `${fullName}\0${name}`
}

/** The same with its value. */
export function pairOf(key: string, value: string): string {
  return `${key}\0${value}`
}

/** Of a parameter that has none of its values of the run before; `isHidden`: by its mode (`isSecretParameter`). */
export function volatileBetween(
  fullName: string,
  name: string,
  previousValues: readonly string[],
  currentValues: readonly string[],
  isHidden = false,
): Found {
  const values = isHidden || isSecretName(name) ? '' : `: it was ${told(previousValues)}, and is ${told(currentValues)}`
  return {
    message: `the parameter ${quoted(name, 80)} of ${quoted(fullName, 120)} has other values than in the previous run${values}`,
  }
}

function told(values: readonly string[]): string {
  return values.length > 1 ? `${quoted(values[0]!)} and ${values.length - 1} more` : quoted(values[0] ?? '')
}
