import { constants } from 'node:fs'
import { access, open, readdir, readFile, readlink, stat } from 'node:fs/promises'
import { basename, isAbsolute, resolve } from 'node:path'
import { isOnPath } from '../../adapters/network.ts'
import { runProgram } from '../../adapters/process.ts'
import { serviceName, springSettings, vendorSigns } from '../../knowledge/settings.ts'
import type { Finder, FinderOptions, Found } from '../platform.ts'
import type { Properties } from './properties.ts'
import { one, parseProperties } from './properties.ts'

const named = /^testops(?!-admin)[\w:.\\-]*(?:@[\w:.\\-]+)?\.service$/
const mentions = /(?:^|[^\w-])testops(?!-admin)(?![\w])/i
/** Programs that run the service elsewhere: its own platform finds it, not the unit that starts one of these */
const starters = ['docker', 'podman', 'docker-compose', 'podman-compose', 'kubectl', 'helm', 'k3s', 'testops-admin']

/** True if a command or description names the service, and not this program. */
function mentionsService(text: string): boolean {
  return mentions.test(text)
}

/**
 * Finds the units of this machine's systemd that are the service: `testops.service`, else those whose name begins so,
 * else those whose command or description names it.
 */
export const findUnits: Finder = async (options) => {
  if (!(await isOnPath('systemctl', options.environment?.['PATH'])))
    return { found: [], looked: 'systemd is not installed' }
  const loaded = await shown(options, ['*.service'])
  // where systemd is not running, systemctl reads the files of units itself, which takes most of a second
  if (loaded === null) return { found: [], looked: 'systemd is not running' }
  const known = new Set(loaded.map((it) => one(it, 'Id')))
  const names = (await unitFiles(options)).filter((name) => !known.has(name))
  const stopped = names.length === 0 ? [] : ((await shown(options, names)) ?? [])
  const units = [...loaded, ...stopped].filter(isLoaded).filter((it) => !isStarter(it))
  const byName = units.filter((it) => named.test(one(it, 'Id')))
  const exact = byName.filter((it) => one(it, 'Id') === `${serviceName}.service`)
  const chosen = [exact, byName, units.filter(isMentioned)].find((it) => it.length > 0) ?? []
  return {
    found: chosen.map(foundOf),
    looked: `no systemd unit has \`${serviceName}\` in its name, command or description`,
  }
}

/** Lists unit files that are named as the service is, loaded or not. */
async function unitFiles(options: FinderOptions): Promise<string[]> {
  const { stdout } = await systemctl(
    ['list-unit-files', '--type=service', '--no-legend', '--plain', '--full', '--no-pager'],
    options,
  )
  return stdout
    .split('\n')
    .flatMap((line) => line.trim().split(/\s+/)[0] ?? [])
    .filter((name) => named.test(name))
}

/** Reads the units of these names; a pattern shows only loaded ones. Null if systemd does not answer. */
async function shown(options: FinderOptions, names: readonly string[]): Promise<Properties[] | null> {
  const { stdout, exitCode } = await systemctl(
    ['show', ...names, '--property=Id,Description,ExecStart,LoadState', '--no-pager'],
    options,
  )
  if (exitCode !== 0) return null
  const units = stdout.split(/\n{2,}/).map(parseProperties)
  return [...new Map(units.map((it) => [one(it, 'Id'), it])).values()]
}

async function systemctl(words: readonly string[], { timeoutMs, environment, signal }: FinderOptions) {
  return runProgram(['systemctl', ...words], {
    timeoutMs,
    signal,
    environment: { ...environment, LC_ALL: 'C', SYSTEMD_COLORS: '0', SYSTEMD_PAGER: '' },
  })
}

function isLoaded(unit: Properties): boolean {
  return one(unit, 'LoadState') === 'loaded'
}

function isStarter(unit: Properties): boolean {
  return starters.includes(basename(programOf(unit)))
}

function isMentioned(unit: Properties): boolean {
  return mentionsService(one(unit, 'Description')) || mentionsService(one(unit, 'ExecStart'))
}

/** Returns the program of `{ path=/opt/testops/bin/service ; argv[]=… ; … }`; '' if there is none. */
function programOf(unit: Properties): string {
  return /(?<!\S)path=(\S+) ;/.exec(one(unit, 'ExecStart'))?.[1] ?? ''
}

function foundOf(unit: Properties): Found {
  const id = one(unit, 'Id')
  const name = id.replace(/\.service$/, '')
  const program = programOf(unit)
  return {
    name,
    what: `systemd unit \`${id}\`${program === '' ? '' : ` (${program})`}`,
    place: { platform: 'host', unit: name },
  }
}

/** A Java process of this machine that is the service, started by something other than systemd. */
export interface JavaProcess {
  pid: number
  /** Name, or number if it has none */
  user: string
  /** Jar or main class, as its command line names it; the class path of one that Spring Boot's launcher starts */
  program: string
  /** Working folder; null if it is another user's, and not readable */
  folder: string | null
  /** Null for the same reason as `folder` */
  environment: ReadonlyMap<string, string> | null
  /** Absolute path of the file that its log goes to; null if unknown */
  logFile: string | null
  /** Value of `-Duser.timezone` */
  timeZone: string | null
}

/** Maximum bytes that are read of a file; people write smaller command lines and environments */
const mostBytes = 262_144
/** Maximum number of processes that are looked at, in all and at a time */
const [mostProcesses, atATime] = [50_000, 64]

/**
 * Finds the Java processes that are the service, as far as this user may see them (proc(5)). Their jar or main class
 * names it, or their environment has settings under the vendor's prefix. Leaves out processes of other containers.
 * `root`: folder of the machine's processes. Never throws.
 */
export async function findJavaProcesses(root = '/proc'): Promise<JavaProcess[]> {
  const names = (await readdir(root).catch(() => []))
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .slice(0, mostProcesses)
  const own = await containerOf(`${root}/self`)
  const found: JavaProcess[] = []
  for (let at = 0; at < names.length; at += atATime) {
    const some = await Promise.all(
      names.slice(at, at + atATime).map(async (name) => processAt(`${root}/${name}`, Number(name), own)),
    )
    found.push(...some.filter((it) => it !== null))
  }
  return found
}

async function processAt(place: string, pid: number, ownContainer: string | null): Promise<JavaProcess | null> {
  const words = (await textOf(`${place}/cmdline`))?.replace(/\0$/, '').split('\0') ?? []
  if (basename(words[0] ?? '') !== 'java') return null
  const folder = await readlink(`${place}/cwd`).catch(() => null)
  const { program, options, parameters } = await javaCommandLine(words, async (file) =>
    isAbsolute(file) ? textOf(file) : folder === null ? null : textOf(resolve(folder, file)),
  )
  const text = await textOf(`${place}/environ`)
  const environment =
    text === null
      ? null
      : new Map(
          text
            .split('\0')
            .flatMap((it) =>
              it.includes('=') ? [[it.slice(0, it.indexOf('=')), it.slice(it.indexOf('=') + 1)] as const] : [],
            ),
        )
  const isService = mentionsService(program) || vendorSigns(environment?.keys() ?? []).prefixes.length > 0
  const container = isService ? await containerOf(place) : null
  if (!isService || (container !== null && container !== ownContainer)) return null
  const valueOf = (name: string): string | undefined =>
    [...options, ...parameters]
      .findLast((it) => it.startsWith(`-D${name}=`) || it.startsWith(`--${name}=`))
      ?.replace(/^[^=]*=/, '')
  const written = valueOf('logging.file.name') ?? environment?.get(springSettings.logFile)
  return {
    pid,
    user: await userOf(place),
    program,
    folder,
    environment,
    logFile:
      written === undefined
        ? await outputOf(place)
        : isAbsolute(written)
          ? written
          : folder === null
            ? null
            : resolve(folder, written),
    timeZone: valueOf('user.timezone') ?? null,
  }
}

const ofEngine = /(?:^|[/.-])(?:docker|libpod|kubepods|containerd|crio|lxc|machine|garden)[/.-][^/\n]*/m

/**
 * Returns what shows that a process is in a container; null if it is in none. A process with a second number is in its
 * own process namespace; else an engine names its control group after the container.
 */
async function containerOf(place: string): Promise<string | null> {
  const [status, groups] = await Promise.all([textOf(`${place}/status`), textOf(`${place}/cgroup`)])
  if (/^NSpid:\s*\d+\s+\d/m.test(status ?? '')) return 'namespace'
  return /\b[\da-f]{64}\b/.exec(groups ?? '')?.[0] ?? ofEngine.exec(groups ?? '')?.[0] ?? null
}

/** Returns the regular file that receives standard output; null if it goes elsewhere or cannot be seen. */
async function outputOf(place: string): Promise<string | null> {
  const file = await readlink(`${place}/fd/1`).catch(() => '')
  const isFile =
    isAbsolute(file) &&
    (await stat(file).then(
      (it) => it.isFile(),
      () => false,
    ))
  return isFile ? file : null
}

async function userOf(place: string): Promise<string> {
  const id = /^Uid:\s*(\d+)/m.exec((await textOf(`${place}/status`)) ?? '')?.[1] ?? '?'
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '')
  return (
    users
      .split('\n')
      .map((line) => line.split(':'))
      .find(([, , it]) => it === id)?.[0] ?? id
  )
}

/** Returns a file's text; null if it cannot be read, or the process has ended. */
async function textOf(file: string): Promise<string | null> {
  try {
    const handle = await open(file)
    try {
      const bytes = Buffer.alloc(mostBytes)
      let length = 0
      for (let read = -1; read !== 0 && length < mostBytes; length += read)
        ({ bytesRead: read } = await handle.read(bytes, length, mostBytes - length))
      return bytes.toString('utf8', 0, length)
    } finally {
      await handle.close()
    }
  } catch {
    return null
  }
}

/**
 * Returns the init script that starts the service where there is no systemd; it answers as LSB says. Null if there is
 * none that this user may run.
 */
export async function initScript(folder = '/etc/init.d'): Promise<string | null> {
  const file = `${folder}/${serviceName}`
  return access(file, constants.X_OK).then(
    () => file,
    () => null,
  )
}

/** The parts of a Java command line (java(1)). */
interface JavaCommandLine {
  /** Jar, module or main class; of an application that Spring Boot's launcher starts, its class path */
  program: string
  options: readonly string[]
  parameters: readonly string[]
}

/** Options that take the next word as their value */
const withValue = new RegExp(
  '^(?:-cp|-classpath|--class-path|-p|--module-path|--upgrade-module-path|--add-modules|--limit-modules|' +
    '--add-(?:reads|exports|opens)|--patch-module|--enable-native-access)$',
)
const ofClassPath = /^(?:-cp|-classpath|--class-path)$/
const isNamed = /^(?:-jar|-m|--module)$/
/** Main classes that do not name what they start, which lies on the class path */
const isLauncher = /^org\.springframework\.boot\.loader\.(?:launch\.)?(?:Jar|War|Properties)Launcher$/

/**
 * Parses `java OPTION… -jar FILE PARAMETER…` and `java OPTION… CLASS PARAMETER…`; `@FILE` among the options stands for
 * the words in that file. `read` returns its text, or null; then the program is known only by that file's name.
 */
async function javaCommandLine(
  words: readonly string[],
  read: (file: string) => Promise<string | null>,
): Promise<JavaCommandLine> {
  const left = words.slice(1)
  const options: string[] = []
  let unread = ''
  while (left.length > 0 && /^[-@]/.test(left[0]!) && !isNamed.test(left[0]!)) {
    const option = left.shift()!
    if (option.startsWith('@')) {
      const text = await read(option.slice(1))
      // such a file cannot name another one
      if (text === null) unread = option
      else left.unshift(...wordsOfFile(text).map((word) => word.replace(/^@/, './@')))
    } else options.push(option, ...(withValue.test(option) ? left.splice(0, 1) : []))
  }
  if (isNamed.test(left[0] ?? '')) left.shift()
  const program = left.shift() ?? unread
  const at = options.findLastIndex((it) => ofClassPath.test(it))
  return { program: isLauncher.test(program) ? (options[at + 1] ?? program) : program, options, parameters: left }
}

/** Splits a text into words at blanks outside quotes; a `#` at the start of a line begins a comment. */
function wordsOfFile(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .flatMap((line) => line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [])
    .map((word) => word.replaceAll(/["']/g, ''))
}
