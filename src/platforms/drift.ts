import { Secret, UnreadableSecret } from '../core/secret.ts'
import type { DriftingSetting } from '../core/sources.ts'
import { isSecretSetting } from '../knowledge/settings.ts'

type Settings = ReadonlyMap<string, string | Secret | null>

/** Returns the settings among `names` that differ. Skips settings that cannot be read. */
export function differing(
  names: Iterable<string>,
  declared: Settings,
  runs: Settings,
  isSame: (one: string, other: string) => boolean = (one, other) => one === other,
): DriftingSetting[] {
  return [...new Set(names)].flatMap((name) => {
    const [wanted, is] = [declared.get(name) ?? null, runs.get(name) ?? null]
    if (wanted instanceof UnreadableSecret || is instanceof UnreadableSecret) return []
    const [one, other] = [clear(wanted), clear(is)]
    if (one === other || (one !== null && other !== null && isSame(one, other))) return []
    // a setting that is secret on one side is secret on both
    const isSecret =
      wanted instanceof Secret ||
      is instanceof Secret ||
      isSecretSetting(name, one ?? '') ||
      isSecretSetting(name, other ?? '')
    const kept = (value: string | null): string | Secret | null =>
      value !== null && isSecret ? new Secret(value) : value
    return [{ name, declared: kept(one), runs: kept(other) }]
  })
}

function clear(value: string | Secret | null): string | null {
  return value instanceof Secret ? value.reveal() : value
}
