import { idLook } from './ids.ts'
import type { Look, Looked } from './look.ts'
import { dateTimeIn, datesIn } from './dates.ts'

/** Maximum characters of a value that are examined. */
const most = 2000

/** Earliest credible start of a test; an earlier one means that the time is unknown. */
const earliest = Date.UTC(2000)

/** Returns why a value looks as if it changes in each run; null if it does not, or in doubt. */
export function volatileLook(value: string, name: string, began: number | null): Look | null {
  // a shorter value is only a word or a small number
  if (value.length < 5) return null
  const text = unquoted(value.length > most ? value.slice(0, most) : value)
  const at = began !== null && began >= earliest ? began : null
  const hasDigit = /\d/.test(text)
  if (!hasDigit) return text.includes('/') || text.includes('\\') ? pathLook({ text, name, at }) : null
  const looked = { text, name, at }
  return idLook(looked) ?? timeLook(looked) ?? pathLook(looked) ?? objectLook(looked) ?? portLook(looked)
}

/** Removes quotes: Python's adapters write `repr(value)`, which puts texts in quotes. */
function unquoted(value: string): string {
  const first = value[0]
  return (first === "'" || first === '"') && value.endsWith(first) ? value.slice(1, -1) : value
}

/**
 * `com.example.Foo@1b2c3d4`, `[I@1b2c3d4` and the like, as Java's `Object.toString` writes them. An e-mail address has
 * a dot after the `@`.
 */
const ofJava =
  /(?<![\w.@$-])(?:(?<!\[)\[+[BCDFIJSZ]|(?:(?<!\[)\[+L)?(?:[a-z_][\w$]*\.)*(?:[A-Z$][\w$]*|[a-z_]\w*\$[\w$]*)(?:\/0x[\da-f]{1,16})?;?)@(?=[a-f]*\d)[\da-f]{5,8}(?![\w.@-])/

/** Python's `<app.Client object at 0x7f3c5e2a1d90>`; a pointer into Go's heap. */
const ofOthers = /\bat 0x[\da-f]{6,16}\b|(?<!\w)0xc0[\da-f]{8}(?!\w)/i

function objectLook({ text }: Looked): Look | null {
  const isAddress = (text.includes('@') && ofJava.test(text)) || (text.includes('0x') && ofOthers.test(text))
  return isAddress ? { what: 'the address of an object in memory' } : null
}

const begin = String.raw`(?:^|file:\/\/|[\s"'=(,;:<[])`
/** Temporary folders, and those where CI servers check out: GitLab, Jenkins, GitHub Actions, Azure Pipelines. */
const ofRuns = new RegExp(
  String.raw`${begin}\/(?:private\/)?(?:tmp|var\/tmp|var\/folders|var\/lib\/jenkins|var\/jenkins_home|github\/workspace|__w)\/[^\s"'/]`,
)
/** Folders of a machine; these may also be paths of a site. */
const ofMachines = new RegExp(String.raw`${begin}\/(?:(?:home|Users)\/[^\s"'/]+|root|builds)\/[^\s"'/]`)
const ofWindows =
  /(?:^|[^a-z])[a-z]:[\\/]+(?:Users[\\/]+[^\\/\s]|Documents and Settings[\\/]|(?:[^\\/:*?"<>|\r\n]{1,100}[\\/]+){0,9}(?:Temp|tmp)[\\/]|(?:jenkins|actions-runner|BuildAgent|agent)[\\/]+(?:_?work|workspace)|a[\\/]+(?:([^\\/\s]{1,100})[\\/]+\1(?:[\\/]|$)|\d+[\\/]+[abs](?:[\\/]|$)))/i
const homeAlone = /^\/(?:home|Users)\/[^\s"'/]+\/?$/

/** Names of parameters whose paths are those of a site. */
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

/** The port of an address: after a scheme any host counts, else `localhost`, numbers and names with a dot. */
const inAddress =
  /(?:[a-z][\w+.-]{1,30}:\/\/[^\s/?#:]{1,253}|(?<![\w.:-])(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:]{2,45}\]|[\w-]{1,63}(?:\.[\w-]{1,63}){0,9}\.[a-z]{2,24})):(\d{5})(?!\w)/gi

/**
 * Range of ports that the system picks. Linux's default of `net.ipv4.ip_local_port_range` begins at the first one;
 * other systems begin at 49152 (RFC 6335).
 */
const [first, last] = [32_768, 65_535]

/**
 * Ports of that range that people choose: MySQL X, Keystone, LiveReload, BACnet, gRPC, Hadoop, ActiveMQ, and the last
 * one.
 */
const chosen: ReadonlySet<number> = new Set([
  33_060, 35_357, 35_729, 47_808, 50_051, 50_052, 50_070, 50_075, 61_613, 61_614, 61_616, 65_535,
])

/** Detects a port that the system picks when a program asks for any. */
function portLook({ text, name }: Looked): Look | null {
  const isPort =
    (/^\d{5}$/.test(text) && isEphemeral(text) && namesPort(name)) ||
    (text.includes(':') && [...text.matchAll(inAddress)].some(([, port]) => isEphemeral(port!)))
  return isPort ? { what: 'a port that the system picks each time' } : null
}

function isEphemeral(digits: string): boolean {
  const port = Number(digits)
  // Visual Studio permanently assigns the ports from 44300 to 44399 to IIS Express
  return port >= first && port <= last && port % 1000 !== 0 && !chosen.has(port) && !(port >= 44_300 && port <= 44_399)
}

/** True for `port`, `serverPort`, `http.port`, `PORT_2`; false for `report` or `passport`. */
function namesPort(name: string): boolean {
  return /(?:^|[^a-z])port(?:s?$|[^a-rt-z]|s[^a-z])/i.test(name.replace(/([a-z\d])(?=[A-Z])/g, '$1 '))
}

const [hourMs, dayMs] = [3_600_000, 86_400_000]
/** Milliseconds by which zones differ: a date without a zone may be of any. */
const zonesMs = 14 * hourMs
/**
 * Milliseconds from the run beyond which a time belongs to the test itself, such as the first and last ones that a
 * system supports. The second is for round times.
 */
const [farMs, farOfRoundMs] = [5 * 365 * dayMs, 365 * dayMs]

/** Detects a time that is made when the test runs. A date alone, or a number, counts only if it is that of the run. */
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
  // measured from noon of that day
  if (datesIn(text).some((date) => Math.abs(date + 12 * hourMs - at) <= 1.5 * dayMs + zonesMs))
    return { what: 'the date of the run', isOfDay: true }
  return isEpoch(text, at) ? { what: 'the time of the run as a number' } : null
}

const epoch = /(?<![\d.])(?:\d{10}|\d{13}|\d{16}|\d{19})(?!\d)/g

/** True if a number is the run's time in seconds, milliseconds, microseconds or nanoseconds since 1970. */
function isEpoch(text: string, at: number): boolean {
  for (const [digits] of text.matchAll(epoch)) {
    const ms = Number(digits) * 10 ** (13 - digits.length)
    if (Math.abs(ms - at) <= dayMs) return true
  }
  return false
}
