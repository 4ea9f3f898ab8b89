import { datesIn, dateTimeIn } from './dates.ts'

/** A UUID of RFC 9562, all versions. */
const uuid = /(?<![\da-z-])[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}(?![\da-z-])/i
const hex = /(?<![\da-z])(?:[\da-f]{24,}|[\dA-F]{24,})(?![\da-z])/i
/** A ULID (github.com/ulid/spec): its first ten characters are a time in milliseconds. */
const ulid = /(?<![\da-z])(?:[0-7][\dA-HJKMNP-TV-Z]{25}|[0-7][\da-hjkmnp-tv-z]{25})(?![\da-z])/i
const base64 = /^[\w+/-]{20,}={0,2}$/
const jwt = /^(?:Bearer )?eyJ[\w-]{8,}\.(eyJ[\w-]{8,})\.[\w-]*$/

/** Names of values that are computed from content, and so stay the same. */
const ofContent = /hash|checksum|digest|md5|sha-?\d|fingerprint/i

/** Detects ids that are made at random; null if there is none. */
function idLook({ text, name, at }: Looked): Look | null {
  if (text.length < 20) return null
  const ofUuid = text.length >= 36 && text.includes('-') ? uuid.exec(text) : null
  if (ofUuid && variety(ofUuid[0].toLowerCase()) > 6) return { what: 'a UUID' }
  const token = jwt.exec(text)
  if (token) return isOfRun(token[1]!, at) ? { what: 'a token that was issued for the run', isSecret: true } : null
  const ofHex = hex.exec(text)
  if (ofHex && !ofContent.test(name) && !/^(?:sha|md)\d/i.test(text) && isRandomHex(ofHex[0].toLowerCase()))
    return { what: 'a long random id' }
  const ofUlid = ulid.exec(text)
  if (ofUlid && isTimed(ofUlid[0].toUpperCase())) return { what: 'a ULID' }
  return base64.test(text) && !ofContent.test(name) && isRandom(text) ? { what: 'a long random id' } : null
}

/** Returns the number of different characters. */
function variety(text: string): number {
  return new Set(text).size
}

/** True if letters and digits are in no order; false for `deadbeef` six times. */
function isRandomHex(digits: string): boolean {
  return (
    /\d/.test(digits) &&
    /[a-f]/.test(digits) &&
    variety(digits) >= 8 &&
    !/012345|123456|abcdef|(.)\1{5}|(.{4,8})\2/.test(digits)
  )
}

const crockford = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** Times between which programs can have made a ULID. */
const [since, until] = [Date.UTC(2010), Date.UTC(2100)]

function isTimed(id: string): boolean {
  let time = 0
  for (let at = 0; at < 10; at += 1) time = time * 32 + crockford.indexOf(id[at]!)
  return time >= since && time < until && variety(id) >= 10
}

/** True if digits and cases change much more often than in words, and the value does not decode to text. */
function isRandom(text: string): boolean {
  const plain = text.replace(/[^A-Za-z\d]/g, '')
  if (text.replace(/(?<!=)=+$/, '').length - plain.length > text.length / 10) return false
  const digitGroups = plain.match(/\d+/g)?.length ?? 0
  const upper = plain.match(/[A-Z]/g)?.length ?? 0
  const lower = plain.match(/[a-z]/g)?.length ?? 0
  if (digitGroups < 3 || upper < 3 || lower < 3) return false
  let changes = 0
  for (let at = 1; at < plain.length; at += 1)
    if (kindOf(plain.charCodeAt(at)) !== kindOf(plain.charCodeAt(at - 1))) changes += 1
  return changes >= plain.length * 0.45 && !isOfWords(plain) && !isText(text)
}

/** True if the value consists of readable words, which have vowels: `Version2OfTheTest3`. */
function isOfWords(text: string): boolean {
  const words = text.match(/[A-Z]?[a-z]+|[A-Z]{2,}/g)?.filter(({ length }) => length > 1) ?? []
  return words.filter((word) => /[aeiouy]/i.test(word)).length >= words.length * 0.8
}

function kindOf(code: number): 'digit' | 'upper' | 'lower' {
  return code <= 57 ? 'digit' : code <= 90 ? 'upper' : 'lower'
}

/** True if it is text in base64, which the test's author has encoded. */
function isText(encoded: string): boolean {
  return /^[\t\n\r\x20-\x7e]+$/.test(Buffer.from(encoded, 'base64').toString('latin1'))
}

const msPerDay = 86_400_000

/** True if the token was issued or expires within a day of the run (RFC 7519, both in seconds since 1970). */
function isOfRun(payload: string, at: number | null): boolean {
  if (at === null) return false
  try {
    const { iat, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { iat?: unknown; exp?: unknown }
    return [iat, exp].some((seconds) => typeof seconds === 'number' && Math.abs(seconds * 1000 - at) < msPerDay)
  } catch {
    return false
  }
}

/** The reason why a value looks as if it changes in each run. */
interface Look {
  /** such as 'a UUID' */
  what: string
  /** true if the value is a credential, which must not be shown */
  isSecret?: true
  /** true if another run on the same day has the same value */
  isOfDay?: true
}

/** A value to examine. `at`: when the test ran, in milliseconds since 1970; null if that is unknown. */
interface Looked {
  text: string
  /** name of the parameter, or of the environment's entry */
  name: string
  at: number | null
}

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
const ofJava = new RegExp(
  String.raw`(?<![\w.@$-])(?:(?<!\[)\[+[BCDFIJSZ]|(?:(?<!\[)\[+L)?(?:[a-z_][\w$]*\.)*` +
    String.raw`(?:[A-Z$][\w$]*|[a-z_]\w*\$[\w$]*)(?:\/0x[\da-f]{1,16})?;?)@(?=[a-f]*\d)[\da-f]{5,8}(?![\w.@-])`,
)

/** Python's `<app.Client object at 0x7f3c5e2a1d90>`; a pointer into Go's heap. */
const ofOthers = /\bat 0x[\da-f]{6,16}\b|(?<!\w)0xc0[\da-f]{8}(?!\w)/i

function objectLook({ text }: Looked): Look | null {
  const isAddress = (text.includes('@') && ofJava.test(text)) || (text.includes('0x') && ofOthers.test(text))
  return isAddress ? { what: 'the address of an object in memory' } : null
}

const begin = String.raw`(?:^|file:\/\/|[\s"'=(,;:<[])`
/** Temporary folders, and those where CI servers check out: GitLab, Jenkins, GitHub Actions, Azure Pipelines. */
const ofRuns = new RegExp(
  String.raw`${begin}\/(?:private\/)?(?:tmp|var\/tmp|var\/folders|var\/lib\/jenkins|var\/jenkins_home|` +
    String.raw`github\/workspace|__w)\/[^\s"'/]`,
)
/** Folders of a machine; these may also be paths of a site. */
const ofMachines = new RegExp(String.raw`${begin}\/(?:(?:home|Users)\/[^\s"'/]+|root|builds)\/[^\s"'/]`)
const ofWindows = new RegExp(
  String.raw`(?:^|[^a-z])[a-z]:[\\/]+(?:` +
    [
      String.raw`Users[\\/]+[^\\/\s]|Documents and Settings[\\/]`,
      String.raw`(?:[^\\/:*?"<>|\r\n]{1,100}[\\/]+){0,9}(?:Temp|tmp)[\\/]`,
      String.raw`(?:jenkins|actions-runner|BuildAgent|agent)[\\/]+(?:_?work|workspace)`,
      String.raw`a[\\/]+(?:([^\\/\s]{1,100})[\\/]+\1(?:[\\/]|$)|\d+[\\/]+[abs](?:[\\/]|$))`,
    ].join('|') +
    ')',
  'i',
)
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
  return isPath ? { what: 'a path that depends on the machine or the run' } : null
}

/** The port of an address: after a scheme any host counts, else `localhost`, numbers and names with a dot. */
const inAddress = new RegExp(
  String.raw`(?:[a-z][\w+.-]{1,30}:\/\/[^\s/?#:]{1,253}|` +
    String.raw`(?<![\w.:-])(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:]{2,45}\]|` +
    String.raw`[\w-]{1,63}(?:\.[\w-]{1,63}){0,9}\.[a-z]{2,24})):(\d{5})(?!\w)`,
  'gi',
)

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
  return isPort ? { what: 'a port that the system picks at each start' } : null
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
  return isEpoch(text, at) ? { what: 'the time of the run as a Unix timestamp' } : null
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
