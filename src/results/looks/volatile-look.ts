import { idLook } from './ids.ts'
import type { Look, Looked } from './look.ts'
import { dateTimeIn, datesIn } from './dates.ts'

/** characters of a value that are looked at */
const most = 2000

/** a test that began before was not: the time stands for none */
const earliest = Date.UTC(2000)

/** Why a value looks as if it were another in each run; null: it does not. Rather too little is told than too much. */
export function volatileLook(value: string, name: string, began: number | null): Look | null {
  // no shorter one is anything but a word or a small number
  if (value.length < 5) return null
  const text = unquoted(value.length > most ? value.slice(0, most) : value)
  const at = began !== null && began >= earliest ? began : null
  const hasDigit = /\d/.test(text)
  if (!hasDigit) return text.includes('/') || text.includes('\\') ? pathLook({ text, name, at }) : null
  const looked = { text, name, at }
  return idLook(looked) ?? timeLook(looked) ?? pathLook(looked) ?? objectLook(looked) ?? portLook(looked)
}

/** Python's adapters write `repr(value)`, in which texts are in quotes. */
function unquoted(value: string): string {
  const first = value[0]
  return (first === "'" || first === '"') && value.endsWith(first) ? value.slice(1, -1) : value
}

/**
 * `com.example.Foo@1b2c3d4`, `[I@1b2c3d4` and the like, as `Object.toString` of Java writes it; an address of e-mail
 * has a point behind.
 */
const ofJava =
  /(?<![\w.@$-])(?:(?<!\[)\[+[BCDFIJSZ]|(?:(?<!\[)\[+L)?(?:[a-z_][\w$]*\.)*(?:[A-Z$][\w$]*|[a-z_]\w*\$[\w$]*)(?:\/0x[\da-f]{1,16})?;?)@(?=[a-f]*\d)[\da-f]{5,8}(?![\w.@-])/

/** `<app.Client object at 0x7f3c5e2a1d90>` of Python; a pointer of Go's heap. */
const ofOthers = /\bat 0x[\da-f]{6,16}\b|(?<!\w)0xc0[\da-f]{8}(?!\w)/i

function objectLook({ text }: Looked): Look | null {
  const isAddress = (text.includes('@') && ofJava.test(text)) || (text.includes('0x') && ofOthers.test(text))
  return isAddress ? { what: 'the address of an object in memory' } : null
}

const begin = String.raw`(?:^|file:\/\/|[\s"'=(,;:<[])`
/** folders of temporary files, and where servers of CI check out: GitLab, Jenkins, GitHub Actions, Azure Pipelines */
const ofRuns = new RegExp(
  String.raw`${begin}\/(?:private\/)?(?:tmp|var\/tmp|var\/folders|var\/lib\/jenkins|var\/jenkins_home|github\/workspace|__w)\/[^\s"'/]`,
)
/** these may be paths of a site, too */
const ofMachines = new RegExp(String.raw`${begin}\/(?:(?:home|Users)\/[^\s"'/]+|root|builds)\/[^\s"'/]`)
const ofWindows =
  /(?:^|[^a-z])[a-z]:[\\/]+(?:Users[\\/]+[^\\/\s]|Documents and Settings[\\/]|(?:[^\\/:*?"<>|\r\n]{1,100}[\\/]+){0,9}(?:Temp|tmp)[\\/]|(?:jenkins|actions-runner|BuildAgent|agent)[\\/]+(?:_?work|workspace)|a[\\/]+(?:([^\\/\s]{1,100})[\\/]+\1(?:[\\/]|$)|\d+[\\/]+[abs](?:[\\/]|$)))/i
const homeAlone = /^\/(?:home|Users)\/[^\s"'/]+\/?$/

/** names of parameters whose paths are those of a site */
const siteName = /ur[il]|route|endpoint|page|href|link|request|resource/i
const folderName = /home|dir|folder|cwd|workspace|root/i

function pathLook({ text, name }: Looked): Look | null {
  const isPath =
    (text.includes('/') &&
      (ofRuns.test(text) ||
        (!siteName.test(name) && ofMachines.test(text)) ||
        (folderName.test(name) && homeAlone.test(text)))) ||
    ofWindows.test(text)
  return isPath ? { what: 'a path of one machine or run' } : null
}

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
function portLook({ text, name }: Looked): Look | null {
  const isPort =
    (/^\d{5}$/.test(text) && isEphemeral(text) && namesPort(name)) ||
    (text.includes(':') && [...text.matchAll(inAddress)].some(([, port]) => isEphemeral(port!)))
  return isPort ? { what: 'a port that the system picks each time' } : null
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

const [hourMs, dayMs] = [3_600_000, 86_400_000]
/** dates without a zone may be those of any */
const zonesMs = 14 * hourMs
/**
 * what is further away is a date of the test itself, as the first and last ones that a system bears; the second holds
 * for full minutes
 */
const [farMs, farOfRoundMs] = [5 * 365 * dayMs, 365 * dayMs]

/** A time that is made when the test runs; a date alone, or a number, only where it is that of the run. */
function timeLook({ text, at }: Looked): Look | null {
  if (!/\d{4}|\d\d?[./]\d\d?[./]\d/.test(text)) return null
  const dateTime = dateTimeIn(text)
  if (dateTime) {
    const away = at === null ? 0 : Math.abs(dateTime.time - at)
    const isOfRun = at !== null && away <= dayMs + zonesMs
    const isNear = away <= (dateTime.isRound ? farOfRoundMs : farMs)
    return isOfRun || (dateTime.isWhole && !dateTime.isEdge && isNear) ? { what: 'a time' } : null
  }
  if (at === null) return null
  // from noon of that day
  if (datesIn(text).some((date) => Math.abs(date + 12 * hourMs - at) <= 1.5 * dayMs + zonesMs))
    return { what: 'the date of the run', isOfDay: true }
  return isEpoch(text, at) ? { what: 'the time of the run as a number' } : null
}

const epoch = /(?<![\d.])(?:\d{10}|\d{13}|\d{16}|\d{19})(?!\d)/g

/** Seconds, milliseconds, microseconds or nanoseconds since 1970. */
function isEpoch(text: string, at: number): boolean {
  for (const [digits] of text.matchAll(epoch)) {
    const ms = Number(digits) * 10 ** (13 - digits.length)
    if (Math.abs(ms - at) <= dayMs) return true
  }
  return false
}
