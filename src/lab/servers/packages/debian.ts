import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AdminError } from '../../../core/error.ts'
import { tryProgram } from '../try-program.ts'
import type { Tried } from '../try-program.ts'
import type { StartOptions } from '../types.ts'
import { alone, exists } from './cache.ts'

/** The dependencies that are unpacked. Programs that every machine has are left out. */
const unpacked = [
  /^(erlang-|docker-compose_|rabbitmq-server_|redis-|pgbouncer_|tcc_|golang-|curl_|grep_|postgresql-client-\d|zlib1g_)/,
  /^(chromium-common_|fonts-dejavu-)/,
  /^lib(?!perl|python|pam-|semanage|selinux|llvm|z3-|gl1-mesa-dri)/,
]

/** Milliseconds for which a list of packages is reused. */
const listsLast = 12 * 3_600_000

/**
 * Fetches a Debian package and its dependencies with this machine's apt, without root and without installing it, and
 * unpacks it into `root`. Uses the mirror and the proxy from apt's configuration. `architecture`: Debian's name of
 * another processor. Throws UNAVAILABLE with apt's message.
 */
export async function unpackDebian(
  request: { suite: string; packageName: string; cache: string; root: string; architecture?: string },
  options: StartOptions,
): Promise<void> {
  const { suite, packageName, cache, root, architecture } = request
  const work = join(root, 'apt')
  for (const program of ['apt-get', 'dpkg-deb', 'setpriv']) {
    const there = await tryProgram(program, ['--version'], { timeoutMs: 10_000 })
    if (!there.ok)
      throw new AdminError('UNAVAILABLE', `${program} is missing, so testops-admin cannot fetch packages from Debian`)
  }
  const mirror = await debianMirror()
  if (!mirror) throw new AdminError('UNAVAILABLE', "this machine's apt configuration has no Debian mirror")
  const lists = join(cache, `lists-${[suite, architecture].filter(Boolean).join('-')}`)
  for (const folder of [join(lists, 'partial'), join(work, 'archives/partial'), root])
    await mkdir(folder, { recursive: true })
  const source = join(work, 'sources.list')
  await writeFile(source, `deb [${mirror.options.join(' ')}] ${mirror.uri} ${suite} main\n`.replace('[] ', ''))
  await writeFile(join(work, 'status'), '')
  const apt = aptOptions({ source, lists, work }, architecture)

  const failure = await alone(lists, options, () => updateLists(lists, apt, options))
  const fetch = () => runApt([...apt, '-y', '--download-only', 'install', packageName], options)
  let fetched = await fetch()
  if (!fetched.ok && !failure) {
    // the mirror may have changed since the list was made
    await rm(join(lists, stamp), { force: true })
    await alone(lists, options, () => updateLists(lists, apt, options))
    fetched = await fetch()
  }
  if (!fetched.ok) {
    throw new AdminError(
      'UNAVAILABLE',
      `apt could not fetch ${packageName} from Debian ${suite}: ${failure ?? fetched.message}`,
      ['apt-get update   # shows whether apt reaches its mirror'],
    )
  }
  for (const archive of await readdir(join(work, 'archives'))) {
    const isWanted = archive.startsWith(`${packageName}_`) || unpacked.some((it) => it.test(archive))
    if (!archive.endsWith('.deb') || !isWanted) continue
    const done = await tryProgram('dpkg-deb', ['-x', join(work, 'archives', archive), root])
    if (!done.ok) throw new AdminError('UNAVAILABLE', `dpkg-deb could not unpack ${archive}: ${done.message}`)
  }
  for (const needless of ['apt', 'usr/share/doc', 'usr/share/man', 'usr/share/locale']) {
    await rm(join(root, needless), { recursive: true, force: true })
  }
}

const stamp = 'testops-admin.stamp'

/**
 * Runs apt. It is killed when this process dies, so that it does not write to the lists while the next process uses
 * them.
 */
function runApt(args: readonly string[], options: StartOptions): Promise<Tried> {
  return tryProgram('setpriv', ['--pdeathsig', 'KILL', 'apt-get', '-qq', ...args], {
    // proxies may be set in the environment
    environment: { ...(options.environment ?? process.env), LC_ALL: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' },
    signal: options.signal,
  })
}

/** Fetches the package lists unless they are recent. Returns null, or why that failed. */
async function updateLists(lists: string, apt: readonly string[], options: StartOptions): Promise<string | null> {
  const made = join(lists, stamp)
  if ((await exists(made)) && Date.now() - (await stat(made)).mtimeMs < listsLast) return null
  const ran = await runApt([...apt, '-o', 'APT::Update::Error-Mode=any', 'update'], options)
  if (!ran.ok) return ran.message
  await writeFile(made, '')
  return null
}

function aptOptions(
  paths: { source: string; lists: string; work: string },
  architecture: string | undefined,
): readonly string[] {
  return [
    ...(architecture === undefined ? [] : [`APT::Architecture=${architecture}`, `APT::Architectures=${architecture}`]),
    `Dir::Etc::sourcelist=${paths.source}`,
    'Dir::Etc::sourceparts=/dev/null',
    `Dir::State::lists=${paths.lists}`,
    `Dir::State::status=${join(paths.work, 'status')}`,
    `Dir::Cache=${paths.work}`,
    // the machine's own packages and lists stay unlocked and unchanged
    'Debug::NoLocking=1',
    'APT::Sandbox::User=root',
    'APT::Install-Recommends=false',
    'APT::Get::List-Cleanup=false',
    'Acquire::Languages=none',
    'Acquire::Retries=3',
  ].flatMap((option) => ['-o', option])
}

/** The mirror that this machine gets Debian's packages from. */
interface Mirror {
  uri: string
  /** in the form of apt's options in square brackets */
  options: readonly string[]
}

const debianSuite = /^(oldoldstable|oldstable|stable|testing|unstable|sid|bullseye|bookworm|trixie|forky|duke)$/
const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg'

/** Finds the mirror of Debian's main archive in this machine's apt configuration; null if there is none. */
export async function debianMirror(folder = '/etc/apt'): Promise<Mirror | null> {
  const entries = [...oneLine(await read(`${folder}/sources.list`))]
  const parts = (await exists(`${folder}/sources.list.d`)) ? await readdir(`${folder}/sources.list.d`) : []
  for (const part of parts.sort()) {
    const text = await read(`${folder}/sources.list.d/${part}`)
    if (part.endsWith('.list')) entries.push(...oneLine(text))
    if (part.endsWith('.sources')) entries.push(...stanzas(text))
  }
  const main = entries.filter(
    (entry) => entry.suites.some((suite) => debianSuite.test(suite)) && entry.components.includes('main'),
  )
  // other archives also offer packages for Debian's releases
  const found = main.find((entry) => /debian/i.test(entry.uri) && !/security/.test(entry.uri))
  if (!found) return null
  const signed = (await exists(keyring)) ? [`signed-by=${keyring}`] : []
  return { uri: found.uri, options: found.trusted ? ['trusted=yes'] : signed }
}

interface Entry {
  uri: string
  suites: readonly string[]
  components: readonly string[]
  trusted: boolean
}

function oneLine(text: string): Entry[] {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)((?:\s+[^\s#]+)*)/.exec(line)
    if (!match) return []
    const [, options = '', uri = '', suite = '', components = ''] = match
    return [
      { uri, suites: [suite], components: components.trim().split(/\s+/), trusted: /\btrusted=yes\b/.test(options) },
    ]
  })
}

function stanzas(text: string): Entry[] {
  return text.split(/\n\s*\n/).flatMap((stanza) => {
    const field = (name: string) => {
      const value = new RegExp(`^${name}:[ \\t]*(.*(?:\\n[ \\t]+.*)*)`, 'im').exec(stanza)?.[1] ?? ''
      return value.split(/\s+/).filter(Boolean)
    }
    if (!field('Types').includes('deb') || field('Enabled')[0] === 'no') return []
    const [suites, components, trusted] = [field('Suites'), field('Components'), field('Trusted')[0] === 'yes']
    return field('URIs').map((uri) => ({ uri, suites, components, trusted }))
  })
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    return ''
  }
}
