import type { Finding, Outcome } from '../core/check.ts'
import { typedOn } from '../core/host.ts'
import { AdminError } from '../core/error.ts'
import type { ShellCommand, Suggestion } from '../core/shell-command.ts'
import { command, nested } from '../core/shell-command.ts'
import type { BrokerSource, LogsSource, RecentRecords, ServiceSource } from '../core/sources.ts'
import type { SqlText } from '../core/sql-text.ts'
import { databaseWord } from '../core/sql-text.ts'

/**
 * What a check shows of its evidence: commands that a person types to see what it saw, and how far it could read. The
 * commands contain no secrets: programs ask for passwords themselves.
 */

/** Host, port and database of a target */
const partsOf = /^\[?([^\]]*?)\]?:(\d+)\/(.*)$/s

/** Builds a `psql` command. `target`: host:port/database, as in `DatabaseSource`. */
export function psql(target: string, user: string | null, sql: SqlText): ShellCommand {
  const parts = partsOf.exec(target)
  const login = user === null ? command`` : command` -U ${user}`
  if (!parts) return command`psql${nested(login)} -c ${sql}`
  return command`psql -h ${parts[1]!} -p ${parts[2]!}${nested(login)} -d ${databaseWord(parts[3]!)} -c ${sql}`
}

/** Builds a command that backs a database up. `target`: host:port/database. */
export function pgDump(target: string, user: string | null): ShellCommand {
  const [, host = 'HOST', port = '5432', database = 'testops'] = partsOf.exec(target) ?? []
  const login = user === null ? command`` : command` -U ${user}`
  return command`pg_dump -h ${host} -p ${port}${nested(login)} -d ${databaseWord(database)} -Fc -f testops.dump`
}

/** Makes a command of RabbitMQ's own tools run on the broker's host, because they ask the node on their own machine. */
export function onBroker({ target }: Pick<BrokerSource, 'target'>, asked: Suggestion): ShellCommand {
  return typedOn(hostOf(target), asked)
}

export function rabbitmqctl(broker: Pick<BrokerSource, 'target' | 'vhost'>, asked: Suggestion): ShellCommand {
  return onBroker(broker, command`rabbitmqctl -p ${broker.vhost} ${nested(asked)}`)
}

/** Builds a `curl` command. `path`: with its values percent-encoded. */
export function curl(base: string, path: string, flags: Suggestion = '-i'): ShellCommand {
  return command`curl ${nested(flags)} ${`${base}${path}`}`
}

/**
 * Builds a call with the Bearer token. The token comes through a pipe: everybody can see the parameters of programs,
 * but not those of a shell's own commands.
 */
export function curlAsUser(base: string, path: string): ShellCommand {
  const header = `printf 'header = "Authorization: Bearer %s"' "$ACCESS_TOKEN"`
  return command`${nested(header)} | ${nested(curl(base, path, '-i -K -'))}   # to get ACCESS_TOKEN: testops-admin
    explain api/token`
}

/** Builds the call that exchanges the API token in the variable TOKEN for a Bearer token (SPEC.md 4.1). */
export function exchangeOf(base: string): ShellCommand {
  const flags = "-i -H 'Expect:' -F grant_type=apitoken -F scope=openid -F 'token=<-'"
  return command`printf %s "$TOKEN" | ${nested(curl(base, '/api/uaa/oauth/token', flags))}`
}

/** Returns the same call for display, with a comment that says what TOKEN is. */
export function tokenExchange(base: string): ShellCommand {
  return command`${nested(exchangeOf(base))}   # TOKEN: the API token`
}

/** Builds a command that finds the newest line with this text in the service's log. */
export function grepLog({ target, prints }: Pick<LogsSource, 'target' | 'prints'>, text: string): ShellCommand {
  const grep = text.startsWith('-') ? command`grep -F -- ${text}` : command`grep -F ${text}`
  return prints === null
    ? command`${nested(grep)} ${target} | tail -1`
    : command`${nested(prints)} | ${nested(grep)} | tail -1`
}

/** Returns one of the service's settings, as `shown`, with the command that shows it. */
export function settingLines(
  { commands: { settings }, settingsFiles }: ServiceSource,
  name: string,
  shown: string,
): string[] {
  return settingsFiles === null ? [`${shown} (${settings})`] : [command`grep ${name} ${settingsFiles}`, shown]
}

/** Returns the host of `host:port…`, as sources write their targets, or of an address. */
export function hostOf(target: string): string {
  return /^(?:https?:\/\/)?(?:\[([^\]]*)\]|([^:/]*))/.exec(target)?.slice(1).find(Boolean) ?? target
}

/**
 * Adjusts the outcome of a check to the parts of the log that could not be read. A problem stands, with these parts as
 * evidence. Otherwise throws the error of the first part: it is unknown whether there are problems.
 */
export function asFarAsRead(outcome: Outcome, { unread = [] }: RecentRecords): Outcome {
  const [first] = unread
  if (!first || outcome.status === 'skipped') return outcome
  const told = unread.map(({ name, error }) => `cannot read the log of \`${name}\`: ${error.message}`)
  if (outcome.status === 'problem') {
    const [finding, ...others] = outcome.findings
    const withParts: Finding = { ...finding, evidence: [...finding.evidence, ...told] }
    return { ...outcome, findings: [withParts, ...others] }
  }
  const names = unread.map(({ name }) => `\`${name}\``).join(', ')
  throw new AdminError(
    first.error.code,
    `cannot read the log of ${names}: ${first.error.message}. The other logs show no fault of this kind`,
    first.error.suggestions,
    { cause: first.error, obstacle: first.error.obstacle },
  )
}
