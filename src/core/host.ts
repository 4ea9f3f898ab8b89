import type { ShellCommand, Suggestion } from './shell-command.ts'
import { command, nested } from './shell-command.ts'

/** Returns a host as sentences name it: a loopback address, or the folder of a socket, is this machine. */
export function hostInWords(host: string): string {
  return isHere(host) ? 'this machine' : host
}

/** Returns a command to type on that host: for another host, a comment names it. */
export function typedOn(host: string, asked: Suggestion): ShellCommand {
  return isHere(host) ? command`${nested(asked)}` : command`${nested(asked)}   # on ${host}`
}

/** Shows the Java processes of a machine. */
export const javaProcesses: Suggestion = 'ps -fC java'

/** Returns a command that shows which program listens on a port. */
export function listenersOn(port: number): ShellCommand {
  return command`ss -ltnp ${`sport = :${port}`}`
}

/**
 * Returns true if a name or address means the machine that it is used on; an IPv6 address may be in the brackets of a
 * URL.
 */
export function isLoopback(host: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|::1|\[::1\])$/i.test(host)
}

/** Returns true if it may stand as a word of a command: a name that begins with a dash would be an option. */
export function isHostName(host: string): boolean {
  return host.length <= 253 && /^[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?\.?$/i.test(host)
}

function isHere(host: string): boolean {
  return isLoopback(host) || host.startsWith('/')
}
