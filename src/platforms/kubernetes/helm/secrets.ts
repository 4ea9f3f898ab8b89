import { isObject } from '../../../core/shape.ts'
import type { Values } from '../../../core/sources.ts'
import { isSecretSetting } from '../../../knowledge/settings.ts'

/** shorter ones would be found in any text */
const shortest = 4

/** The texts of a release's values that are secrets by the names of their keys. */
export function secretsIn(values: Values): string[] {
  return within(values, false)
}

function within(value: unknown, isSecret: boolean): string[] {
  if (isObject(value)) return Object.entries(value).flatMap(([key, it]) => within(it, isSecret || isSecretSetting(screaming(key), '')))
  if (Array.isArray(value)) return value.flatMap((it) => within(it, isSecret))
  if (typeof value !== 'string' && typeof value !== 'number') return []
  const text = String(value)
  return text.length >= shortest && (isSecret || isSecretSetting('', text)) ? [text] : []
}

/** `jwtSecret` as a setting is written: JWT_SECRET. */
function screaming(key: string): string {
  return key.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()
}

/** The text with none of them in it; the longest go first, since one may hold another. */
export function without(secrets: ReadonlySet<string>, text: string): string {
  return [...secrets].sort((one, other) => other.length - one.length).reduce((it, secret) => it.replaceAll(secret, '…'), text)
}
