import { constants } from 'node:fs'
import { access, open, readFile, readdir, readlink, stat } from 'node:fs/promises'
import { basename, isAbsolute, resolve } from 'node:path'
import { serviceName, springSettings, vendorSigns } from '../../knowledge/settings.ts'
import { mentionsService } from './finder.ts'

/** A Java process of this machine that is the service, started by something else than systemd. */
export interface JavaProcess {
  pid: number
  /** name, or number where it has none */
  user: string
  /** jar or main class, as it stands in its command line; the place of one that Spring Boot's launcher starts */
  program: string
  /** null: it is another user's, and may not be read */
  folder: string | null
  /** null: as `folder` */
  environment: ReadonlyMap<string, string> | null
  /** file that its log goes to, absolute; null: not known */
  logFile: string | null
  /** of `-Duser.timezone` */
  timeZone: string | null
}

/** what is larger is cut: neither a command line nor an environment that people wrote */
const mostBytes = 262_144
/** so many processes are looked at, as many at a time */
const [mostProcesses, atATime] = [50_000, 64]

/**
 * Processes of Java outside any container whose jar or main class names the service, or whose environment has settings
 * under the vendor's prefix, as far as this user may see them (proc(5)). `root`: of the machine's processes. Never
 * throws.
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
 * What shows that a process is in a container; null if it is in none. A process with a further number is in its own
 * process namespace; else an engine names its control group after the container.
 */
async function containerOf(place: string): Promise<string | null> {
  const [status, groups] = await Promise.all([textOf(`${place}/status`), textOf(`${place}/cgroup`)])
  if (/^NSpid:\s*\d+\s+\d/m.test(status ?? '')) return 'namespace'
  return /\b[\da-f]{64}\b/.exec(groups ?? '')?.[0] ?? ofEngine.exec(groups ?? '')?.[0] ?? null
}

/** The regular file that receives standard output; null if it goes elsewhere or cannot be seen. */
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

/** Null if it cannot be read, or the process has ended. */
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
 * The script of init that starts the service where there is no systemd; it answers as LSB says. Null: there is none
 * that may be run.
 */
export async function initScript(folder = '/etc/init.d'): Promise<string | null> {
  const file = `${folder}/${serviceName}`
  return access(file, constants.X_OK).then(
    () => file,
    () => null,
  )
}

/** A command line of Java in its parts (java(1)). */
interface JavaCommandLine {
  /** jar, module or main class; of an application that Spring Boot's launcher starts, where that lies */
  program: string
  options: readonly string[]
  parameters: readonly string[]
}

/** an option that takes the next word as its value */
const withValue =
  /^(?:-cp|-classpath|--class-path|-p|--module-path|--upgrade-module-path|--add-modules|--limit-modules|--add-(?:reads|exports|opens)|--patch-module|--enable-native-access)$/
const ofClassPath = /^(?:-cp|-classpath|--class-path)$/
const isNamed = /^(?:-jar|-m|--module)$/
/** it says nothing of what it starts, which lies on the class path */
const isLauncher = /^org\.springframework\.boot\.loader\.(?:launch\.)?(?:Jar|War|Properties)Launcher$/

/**
 * `java OPTION… -jar FILE PARAMETER…`, `java OPTION… CLASS PARAMETER…`, where `@FILE` among the options stands for the
 * words in that file. `read`: its text, null if it cannot be had; its name is then all that is known of the program.
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
      // such a file names no other one
      if (text === null) unread = option
      else left.unshift(...wordsOfFile(text).map((word) => word.replace(/^@/, './@')))
    } else options.push(option, ...(withValue.test(option) ? left.splice(0, 1) : []))
  }
  if (isNamed.test(left[0] ?? '')) left.shift()
  const program = left.shift() ?? unread
  const at = options.findLastIndex((it) => ofClassPath.test(it))
  return { program: isLauncher.test(program) ? (options[at + 1] ?? program) : program, options, parameters: left }
}

/** Words stand between blanks, or in quotes; a `#` begins a comment. */
function wordsOfFile(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .flatMap((line) => line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [])
    .map((word) => word.replaceAll(/["']/g, ''))
}
