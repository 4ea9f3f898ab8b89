import type { Found } from '../problem.ts'
import type { ResultContent } from '../result-file.ts'
import type { FileRule } from '../rule.ts'
import { isSecretParameter, quoted } from './said.ts'
import { volatileLook } from '../looks/volatile-look.ts'
import { pairOf, parameterKey } from './volatile-between.ts'

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
