import { readSettings } from '../service.ts'
import { parseBoolean } from '../../knowledge/settings.ts'
import type { SettingNames } from '../../knowledge/settings.ts'
import type { RunHistory } from '../../core/run.ts'
import type { Comparison } from './comparison.ts'
import { unfitPlaces } from './places.ts'

/**
 * What of its settings is not to be taken from a record of others; empty: nothing. A setting can name a program, a file
 * or a host that the service would then use, so of another machine's record only those are taken that this program sets
 * by a flag of their own, with a value that they can have; any other is set again by its own command.
 */
export async function unfitSettings(history: RunHistory, { deployment, open }: Comparison): Promise<string[]> {
  const { repair, steps } = history.record.plan
  const secrets = steps.flatMap(({ action }) =>
    action.kind === 'set-secret' ? [`it sets ${action.name}, a secret, which no record holds`] : [],
  )
  const changes = steps.flatMap(({ action }) => (action.kind === 'set-setting' ? [action] : []))
  if (changes.length === 0 || secrets.length > 0) return secrets
  const { names } = await readSettings(await open.service(), deployment)
  const unfit = changes.flatMap(({ name, from, to }) => {
    const takes = valuesOf(name, names)
    if (takes === null) return [`it sets ${name}, which a record of another machine may not set`]
    if (repair === 'reset-queues' && (name !== names.rabbitDurable || to === null || parseBoolean(to) !== true))
      return [`a reset-queues does not set ${name} to ${shown(to)}`]
    const odd = [from, to].find((value) => value !== null && !takes(value))
    return odd === undefined ? [] : [`${name} cannot be ${shown(odd)}`]
  })
  return unfit.length > 0 ? unfit : unfitPlaces(history, { open })
}

/** The values that a setting with a flag of its own can have; null: it has none. */
function valuesOf(name: string, names: SettingNames): ((value: string) => boolean) | null {
  switch (name) {
    case names.rabbitDurable:
      return (value) => parseBoolean(value) !== null
    case names.tokenValiditySeconds:
      return (value) => /^[1-9]\d{0,9}$/.test(value)
    case names.integrationLogLevel:
      return (value) => /^(?:trace|debug|info|warn|error|fatal|off|all)$/i.test(value)
    default:
      return null
  }
}

function shown(value: string | null): string {
  return value === null ? 'nothing' : JSON.stringify(value)
}
