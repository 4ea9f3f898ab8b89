import type { Look, Looked } from './look.ts'

/** the port of an address: after a scheme any host counts, else `localhost`, numbers and names with a point */
const inAddress =
  /(?:[a-z][\w+.-]{1,30}:\/\/[^\s/?#:]{1,253}|(?<![\w.:-])(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:]{2,45}\]|[\w-]{1,63}(?:\.[\w-]{1,63}){0,9}\.[a-z]{2,24})):(\d{5})(?!\w)/gi

/**
 * Linux' default of `net.ipv4.ip_local_port_range` begins at the first one; other systems begin at 49152 (RFC 6335).
 */
const [first, last] = [32_768, 65_535]

/**
 * ports of that range which people choose: MySQL X, Keystone, LiveReload, BACnet, gRPC, Hadoop, ActiveMQ, and the last
 * one
 */
const chosen: ReadonlySet<number> = new Set([
  33_060, 35_357, 35_729, 47_808, 50_051, 50_052, 50_070, 50_075, 61_613, 61_614, 61_616, 65_535,
])

/** Of a port that the system picks for whoever asks for any. */
export function portLook({ text, name }: Looked): Look | null {
  const isPort =
    (/^\d{5}$/.test(text) && isEphemeral(text) && namesPort(name)) ||
    (text.includes(':') && [...text.matchAll(inAddress)].some(([, port]) => isEphemeral(port!)))
  return isPort ? { what: 'a port that the system picks anew' } : null
}

function isEphemeral(digits: string): boolean {
  const port = Number(digits)
  // Visual Studio gives IIS Express those from 44300 to 44399 for good
  return port >= first && port <= last && port % 1000 !== 0 && !chosen.has(port) && !(port >= 44_300 && port <= 44_399)
}

/** `port`, `serverPort`, `http.port`, `PORT_2`; not `report` or `passport`. */
function namesPort(name: string): boolean {
  return /(?:^|[^a-z])port(?:s?$|[^a-rt-z]|s[^a-z])/i.test(name.replace(/([a-z\d])(?=[A-Z])/g, '$1 '))
}
