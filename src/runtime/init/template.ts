import { dirname } from 'node:path'
import { runProgram } from '../../adapters/process.ts'
import { yamlText, yamlParts } from '../../adapters/yaml/index.ts'
import { AdminError } from '../../core/error.ts'
import { partText } from '../../core/package-parts.ts'
import { command, sentence } from '../../core/shell-command.ts'
import { withoutSecrets } from '../../core/redaction/index.ts'
import type { ServiceCommands } from '../../core/sources.ts'
import { openPlatform } from '../../platforms/index.ts'
import type { Node, SecretReference } from '../configuration/nodes.ts'
import { platformOf, platformSettingsOf } from '../configuration/platform-of.ts'
import { schema } from '../configuration/schema.ts'
import { isOwnCheck } from '../../knowledge/check-ids.ts'
import { readCertificates } from '../configuration/secrets.ts'
import type { SelectedDeployment } from '../configuration/select.ts'
import { commandOf } from '../configuration/validate.ts'

/** How a configuration is written for another place, such as a pod. */
interface MovingRules {
  secret: (key: string, reference: SecretReference) => object
  /** Returns the path of a file there; null if the key must be left out */
  file: (key: string, path: string) => string | null
  omitted: readonly string[]
}

/**
 * Returns a deployment's configuration for another place, and the keys that it lacks. Throws REFUSED if a key holds a
 * secret in clear.
 */
export function movedConfiguration(
  { name, settings, file }: SelectedDeployment,
  rules: MovingRules,
): { settings: Record<string, unknown>; omitted: readonly string[] } {
  const omitted: string[] = []
  const leaveOut = (path: readonly string[]): undefined => void omitted.push(path.join('.'))
  const moved = (value: unknown, node: Node, path: readonly string[]): unknown => {
    if (rules.omitted.includes(path.join('.'))) return leaveOut(path)
    switch (node.kind) {
      case 'secret':
        return rules.secret(keyOf(path), value as SecretReference)
      case 'file':
        return rules.file(keyOf(path), (value as { path: string }).path) ?? leaveOut(path)
      case 'list': {
        // a relative program starts from the configuration's folder
        const items = isCommandAt(path) ? commandOf(value as string[], dirname(file)) : (value as unknown[])
        const all = items.map((it, at) => moved(it, node.of, [...path, String(at + 1)]))
        return node.orOne === true && all.length === 1 ? all[0] : all
      }
      case 'section': {
        const entries = Object.entries(value as object).flatMap(([key, it]) => {
          const inner = it === undefined ? undefined : moved(it, node.keys[key]!, [...path, key])
          return inner === undefined ? [] : [[key, inner]]
        })
        const isWhole = node.required.every((key) => entries.some(([name]) => name === key))
        return entries.length === 0 || !isWhole ? undefined : Object.fromEntries(entries)
      }
      default: {
        if (typeof value !== 'string' || value === withoutSecrets(value)) return value
        throw new AdminError(
          'REFUSED',
          `\`${path.join('.')}\` of deployment \`${name}\` holds a secret in clear, which a template never repeats`,
          [
            isCommandAt(path.slice(0, -1))
              ? sentence`write a script that reads the secret from a file, and name the script in ${file} instead`
              : sentence`remove the secret from ${file}: only keys for secrets can say where one is kept`,
            command`\${EDITOR:-vi} ${file}`,
          ],
        )
      }
    }
  }
  const all = moved(settings, schema.keys.deployments.of, []) as Record<string, unknown> | undefined
  if (all && omitted.includes('checks') && Array.isArray(all['ignore'])) {
    // what has no file there cannot be ignored there
    const kept = (all['ignore'] as { check: string }[]).filter(({ check }) => !isOwnCheck(check))
    if (kept.length === 0) delete all['ignore']
    else all['ignore'] = kept
  }
  return { settings: all ?? {}, omitted }
}

/** Returns the name of a secret or a file by its place: `database-2-password`. */
/** True for a key whose value is a program and its words. */
function isCommandAt(path: readonly string[]): boolean {
  return path.includes('commands') || ['command', 'rabbitmqctl'].includes(path.at(-1) ?? '')
}

function keyOf(path: readonly string[]): string {
  return path
    .filter((key) => key !== '1')
    .join('-')
    .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** Returns the certificates of a PEM file and nothing else that is in it, such as a key. Throws CONFIGURATION. */
export async function certificatesIn(path: string): Promise<string> {
  const text = await readCertificates({ path, at: path })
  const all = text.match(/-----BEGIN CERTIFICATE-----[\sA-Za-z0-9+/=]+-----END CERTIFICATE-----/g) ?? []
  return `${all.join('\n')}\n`
}

/** Milliseconds for systemd to judge a calendar event, at most */
const judgeMs = 5000

/** Returns whether systemd takes these times as a calendar event; null if this machine has no systemd to ask. */
export async function isCalendarEvent(times: string, signal: AbortSignal): Promise<boolean | null> {
  try {
    const asked = ['systemd-analyze', 'calendar', '--', times] as const
    const { exitCode, stderr } = await runProgram(asked, { timeoutMs: judgeMs, signal })
    return exitCode === 0 ? true : stderr.includes('Failed to parse calendar') ? false : null
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return null
    throw error
  }
}

/** Returns how a deployment's platform starts, stops and shows the service; null if it cannot say. */
export async function serviceCommandsOf(
  selected: SelectedDeployment,
  options: Parameters<typeof openPlatform>[1],
): Promise<ServiceCommands | null> {
  try {
    const platform = await openPlatform(platformSettingsOf(selected), options)
    try {
      // its commands name a workload or a container, which has to be found
      if (platformOf(selected) !== 'host') await (await platform.service()).status()
      return platform.commands
    } finally {
      await platform.close()
    }
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return null
    throw error
  }
}

/** Returns a file of `templates/`, in YAML or JSON: the comment at its top, and its documents. */
export async function templateSource(path: string): Promise<{ about: string[]; documents: unknown[] }> {
  return yamlParts(partText(`templates/${path}`))
}

/** Returns YAML documents as text, each below its comment. */
export function templateText(parts: readonly { about: readonly string[]; value: unknown }[]): string {
  return parts.map(({ about, value }) => yamlText(value, about)).join('---\n')
}
