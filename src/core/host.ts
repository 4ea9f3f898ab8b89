import { command, nested } from './shell-command.ts'
import type { ShellCommand, Suggestion } from './shell-command.ts'

/** A host as sentences name it: a loopback address, or the folder of a socket, is this machine. */
export function hostInWords(host: string): string {
  return isHere(host) ? 'this machine' : host
}

/** A command that asks the machine it is typed on: for another host a comment says where that is. */
export function typedOn(host: string, asked: Suggestion): ShellCommand {
  return isHere(host) ? command`${nested(asked)}` : command`${nested(asked)}   # on ${host}`
}

/** What shows the Java processes of a machine. */
export const javaProcesses: Suggestion = 'ps -fC java'

/** What shows which program listens on a port. */
export function listenersOn(port: number): ShellCommand {
  return command`ss -ltnp ${`sport = :${port}`}`
}

/**
 * Whether a name or an address means the machine that it is used on; an IPv6 address may stand in the brackets of a
 * URL.
 */
export function isLoopback(host: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|::1|\[::1\])$/i.test(host)
}

/** Whether it may stand as a word of a command: a name that begins with a dash would be an option. */
export function isHostName(host: string): boolean {
  return host.length <= 253 && /^[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?\.?$/i.test(host)
}

function isHere(host: string): boolean {
  return isLoopback(host) || host.startsWith('/')
}
