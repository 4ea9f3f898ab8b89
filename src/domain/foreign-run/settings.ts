import { readSettings } from '../service.ts'
import { parseBoolean } from '../../knowledge/settings.ts'
import type { SettingNames } from '../../knowledge/settings.ts'
import type { RunHistory } from '../../core/run.ts'
import type { Comparison } from './comparison.ts'
import { unfitPlaces } from './places.ts'

/**
 * Settings in the record that must not come from another machine; empty: none. A setting can name a program, a file or
 * a host that the service then uses. So a record may set only settings that this program has a flag for, to values that
 * they can have; others need their own command.
 */
export async function unfitSettings(history: RunHistory, { deployment, open }: Comparison): Promise<string[]> {
  const { repair, steps } = history.record.plan
  const secrets = steps.flatMap(({ action }) =>
    action.kind === 'set-secret' ? [`it sets ${action.name}, a secret, but records hold no secrets`] : [],
  )
  const changes = steps.flatMap(({ action }) => (action.kind === 'set-setting' ? [action] : []))
  if (changes.length === 0 || secrets.length > 0) return secrets
  const { names } = await readSettings(await open.service(), deployment)
  const unfit = changes.flatMap(({ name, from, to }) => {
    const takes = valuesOf(name, names)
    if (takes === null) return [`it sets ${name}, which a record from another machine may not set`]
    if (repair === 'reset-queues' && (name !== names.rabbitDurable || to === null || parseBoolean(to) !== true))
      return [`reset-queues does not set ${name} to ${shown(to)}`]
    const odd = [from, to].find((value) => value !== null && !takes(value))
    return odd === undefined ? [] : [`${name} cannot be ${shown(odd)}`]
  })
  return unfit.length > 0 ? unfit : unfitPlaces(history, { open })
}

/** A test for the values of a setting that has its own flag; null: it has no flag. */
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
