import { basename } from 'node:path'
import { runProgram } from '../../adapters/process.ts'
import { isOnPath } from '../../adapters/this-machine.ts'
import { serviceName } from '../../knowledge/settings.ts'
import type { Found, Finder, FinderOptions } from '../found.ts'
import { parseProperties, one } from './properties.ts'
import type { Properties } from './properties.ts'

const named = /^testops(?!-admin)[\w:.\\-]*(?:@[\w:.\\-]+)?\.service$/
const mentions = /(?:^|[^\w-])testops(?!-admin)(?![\w])/i
/** Programs that run the service elsewhere: its own platform finds it, not the unit that starts one of these */
const starters = ['docker', 'podman', 'docker-compose', 'podman-compose', 'kubectl', 'helm', 'k3s', 'testops-admin']

/** True if a command or description names the service, and not this program. */
export function mentionsService(text: string): boolean {
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
  // where systemd does not run, systemctl reads the files of units itself, which takes most of a second
  if (loaded === null) return { found: [], looked: 'systemd does not run' }
  const known = new Set(loaded.map((it) => one(it, 'Id')))
  const names = (await unitFiles(options)).filter((name) => !known.has(name))
  const stopped = names.length === 0 ? [] : ((await shown(options, names)) ?? [])
  const units = [...loaded, ...stopped].filter(isLoaded).filter((it) => !isStarter(it))
  const byName = units.filter((it) => named.test(one(it, 'Id')))
  const exact = byName.filter((it) => one(it, 'Id') === `${serviceName}.service`)
  const chosen = [exact, byName, units.filter(isMentioned)].find((it) => it.length > 0) ?? []
  return {
    found: chosen.map(foundOf),
    looked: `no systemd unit is named ${serviceName} or mentions it in its command or description`,
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
