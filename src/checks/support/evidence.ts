import type { LogRecord, LogsSource } from '../../core/sources.ts'
import { firstLine } from './format.ts'

/** Commands that a person types to see what a check saw. None of them holds a secret: programs ask for passwords themselves. */

/** `target` as `DatabaseSource` has it: host:port/database. */
export function psql(target: string, user: string | null, sql: string): string {
  const parts = /^\[?([^\]]*?)\]?:(\d+)\/(.*)$/.exec(target)
  const login = user === null ? '' : ` -U ${word(user)}`
  if (!parts) return `psql${login} -c ${word(sql)}`
  return `psql -h ${word(parts[1]!)} -p ${parts[2]}${login} -d ${word(parts[3]!)} -c ${word(sql)}`
}

/** `target` as `SessionsSource` has it: host:port/database. */
export function redisCli(target: string, command: string): string {
  const parts = /^\[?([^\]]*?)\]?:(\d+)(?:\/(\d+))?/.exec(target)
  if (!parts) return `redis-cli ${command}`
  const database = parts[3] === undefined || parts[3] === '0' ? '' : ` -n ${parts[3]}`
  return `redis-cli -h ${word(parts[1]!)} -p ${parts[2]}${database} ${command}`
}

export function rabbitmqctl(vhost: string | null, command: string): string {
  return vhost === null ? `rabbitmqctl ${command}` : `rabbitmqctl -p ${word(vhost)} ${command}`
}

export function curl(base: string, path: string, flags = '-i'): string {
  return `curl ${flags} ${word(`${base}${path}`)}`
}

/** How a record is found again, and its first line. */
export function logLine(logs: LogsSource, record: LogRecord, pattern: RegExp | string): string[] {
  const shown = record.text
    .split('\n')
    .find((line) => (typeof pattern === 'string' ? line.includes(pattern) : pattern.test(line)))
  return [`in ${logs.target}:`, firstLine(shown ?? record.text)]
}

/** As one word of a shell. */
export function word(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text
  return text.includes("'") ? `"${text.replace(/[\\"$`]/g, '\\$&')}"` : `'${text}'`
}
