import { withoutValues } from '../../../core/redaction/given.ts'
import { withoutSecrets } from '../../../core/redaction/index.ts'
import { isObject } from '../../../core/shape.ts'
import type { Values } from '../../../core/sources.ts'
import { isSecretSetting } from '../../../knowledge/settings.ts'

/** The texts of a release's values that are secrets by the names of their keys. */
export function secretsIn(values: Values): string[] {
  return within(values, false)
}

function within(value: unknown, isSecret: boolean): string[] {
  if (isObject(value))
    return Object.entries(value).flatMap(([key, it]) => within(it, isSecret || isSecretSetting(screaming(key), '')))
  if (Array.isArray(value)) return value.flatMap((it) => within(it, isSecret))
  if (typeof value !== 'string' && typeof value !== 'number') return []
  const text = String(value)
  return text !== '' && (isSecret || isSecretSetting('', text)) ? [text] : []
}

/** `jwtSecret` as a setting is written: JWT_SECRET. */
function screaming(key: string): string {
  return key.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()
}

/** The text with none of them in it. */
export function without(secrets: ReadonlySet<string>, text: string): string {
  return withoutSecrets(withoutValues(text, secrets, { anywhere: 4 }))
}
