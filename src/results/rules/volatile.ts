import type { Found } from '../problem.ts'
import type { ResultContent, ResultFile } from '../result-file.ts'
import type { FileRule } from '../rule.ts'
import { isSecretParameter, quoted } from './said.ts'
import { volatileLook } from '../looks/volatile-look.ts'
import { isSecretName } from '../../core/redaction/table.ts'

/**
 * Finds values that look as if they change in each run, except those that an earlier run of the test also had.
 * `volatileBetween` reports what that run had instead.
 */
export const volatileParameter: FileRule = {
  id: 'volatile-parameter',
  judge({ content }, changing, hadBefore = () => false) {
    const { parameters } = content
    return parameters == null || parameters.length === 0 ? none : looks(content, changing, hadBefore)
  },
}

const none: readonly Found[] = []

function looks(
  { fullName, parameters, start, stop }: ResultContent,
  changing: ReadonlySet<string>,
  hadBefore: (pair: string) => boolean,
): readonly Found[] {
  let found: Found[] | null = null
  for (let at = 0; at < parameters!.length; at += 1) {
    const parameter = parameters![at]
    if (parameter == null || parameter.excluded === true || parameter.value == null) continue
    const name = parameter.name ?? ''
    const look = volatileLook(parameter.value, name, start ?? stop ?? null)
    if (look === null || changing.has(name)) continue
    // a value that two runs had in common does not change, whatever it looks like
    if (look.isOfDay !== true && fullName && hadBefore(pairOf(parameterKey(fullName, name), parameter.value))) continue
    const value = isSecretParameter(parameter) || look.isSecret ? '' : `: ${quoted(parameter.value)}`
    found ??= []
    found.push({
      message: `the parameter ${quoted(name, 80)} contains ${look.what}${value}`,
      place: `parameters[${at}].value`,
    })
  }
  return found ?? none
}

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
function parameterKey(fullName: string, name: string): string {
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
