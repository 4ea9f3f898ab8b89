import { typedOn } from '../../core/host.ts'
import type { BrokerSource, LogsSource, ServiceSource } from '../../core/sources.ts'

/** Commands that a person types to see what a check saw. None of them holds a secret: programs ask for passwords themselves. */

/** `target` as `DatabaseSource` has it: host:port/database. */
export function psql(target: string, user: string | null, sql: string): string {
  const parts = /^\[?([^\]]*?)\]?:(\d+)\/(.*)$/.exec(target)
  const login = user === null ? '' : ` -U ${word(user)}`
  if (!parts) return `psql${login} -c ${word(sql)}`
  return `psql -h ${word(parts[1]!)} -p ${parts[2]}${login} -d ${word(parts[3]!)} -c ${word(sql)}`
}

/** A command of RabbitMQ's own tools, which ask the node on the machine they are typed on. */
export function onBroker({ target }: BrokerSource, command: string): string {
  return typedOn(hostOf(target), command)
}

export function rabbitmqctl(broker: BrokerSource, command: string): string {
  return onBroker(broker, `rabbitmqctl -p ${word(broker.vhost)} ${command}`)
}

export function curl(base: string, path: string, flags = '-i'): string {
  return `curl ${flags} ${word(`${base}${path}`)}`
}

/** A call with the Bearer token, which comes through a pipe: everybody sees the parameters of programs, but a shell's own. */
export function curlAsUser(base: string, path: string): string {
  const header = `printf 'header = "Authorization: Bearer %s"' "$ACCESS_TOKEN"`
  return `${header} | ${curl(base, path, '-i -K -')}   # ACCESS_TOKEN: see testops-admin explain api/token`
}

/** The exchange of the API token for a Bearer token (SPEC.md 4.1). */
export function tokenExchange(base: string): string {
  const flags = "-i -H 'Expect:' -F grant_type=apitoken -F scope=openid -F 'token=<-'"
  return `printf %s "$TOKEN" | ${curl(base, '/api/uaa/oauth/token', flags)}   # TOKEN: the API token`
}

/** What finds the newest line of the service's log with this in it. */
export function grepLog({ target }: LogsSource, text: string): string {
  const grep = `grep -F ${word(text)}`
  return `${/^\S*\/\S*$/.test(target) ? `${grep} ${target}` : `${target} | ${grep}`} | tail -1`
}

/** One of the service's settings, as `shown`, and what shows it. */
export function settingLines({ commands: { settings } }: ServiceSource, name: string, shown: string): string[] {
  return settings.startsWith('/') ? [`grep ${name} ${settings.split(', ').map(word).join(' ')}`, shown] : [`${shown} (${settings})`]
}

/** The host of `host:port…`, as sources write their targets, or of an address. */
export function hostOf(target: string): string {
  return /^(?:https?:\/\/)?(?:\[([^\]]*)\]|([^:/]*))/.exec(target)?.slice(1).find(Boolean) ?? target
}

/** As one word of a shell. */
export function word(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text
  return text.includes("'") ? `"${text.replace(/[\\"$`]/g, '\\$&')}"` : `'${text}'`
}
