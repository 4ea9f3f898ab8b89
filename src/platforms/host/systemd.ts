import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProgramResult } from '../../adapters/process.ts'
import { endOf, runProgram } from '../../adapters/process.ts'
import { javaProcesses } from '../../core/host.ts'
import { AdminError, codeOf } from '../../core/error.ts'
import type { GlobSign } from '../../core/glob.ts'
import { fitsGlob, plainGlob } from '../../core/glob.ts'
import { command, nested, sentence } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import type { PlatformOptions } from '../platform.ts'
import { healthOf, one, parseProperties, statusOf } from './properties.ts'
import type { EnvironmentFile, ServiceManager } from './manager.ts'
import type { Properties } from './properties.ts'

/** Splits what systemd prints as a list of words, some of them quoted: `A=1 "B=two words"`. */
export function wordsOf(text: string): string[] {
  return [...text.matchAll(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/gs)].map(([word]) =>
    word.replace(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/gs, (_, double?: string, single?: string, escaped?: string) =>
      double === undefined ? (single ?? escaped ?? '') : double.replace(/\\(.)/gs, '$1'),
    ),
  )
}

/**
 * Parses what `systemctl cat` prints: each line as a text, and those that hold words, such as a command line, as their
 * name and these. Leaves out comments but for the files' names: somebody's notes show nothing of the unit.
 */
export function definitionIn(text: string): { lines: readonly unknown[] } {
  // a comment may stand between the lines that a backslash joins
  const isShown = (line: string): boolean => line.trim() !== '' && (/^# \/\S+$/.test(line) || !/^\s*[#;]/.test(line))
  return {
    lines: text
      .split(/\r?\n/)
      .filter(isShown)
      .join('\n')
      .replace(/\\\n/g, ' ')
      .split('\n')
      .map((line) => {
        const [, name, rest = ''] = /^\s*(Exec\w+|Environment)\s*=(.*)$/.exec(line) ?? []
        if (name === undefined) return line
        const words = wordsOf(rest)
        return { [name]: name === 'Environment' ? variablesIn(words) : words }
      }),
  }
}

function variablesIn(words: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    words.map((word) => {
      const [, name = word, value = ''] = /^([^=]*)=(.*)$/s.exec(word) ?? []
      return [name, value]
    }),
  )
}

const statusProperties =
  'Id,LoadState,ActiveState,SubState,Result,MainPID,ExecMainStartTimestamp,ExecMainExitTimestamp,' +
  'ExecMainCode,ExecMainStatus,NRestarts'

/** A unit of this machine's systemd. Its methods throw UNAVAILABLE, FORBIDDEN, TIMED_OUT, FAILED. */
export function systemdUnit(name: string, options: PlatformOptions & { superuser: boolean }): ServiceManager {
  const unit = /\.(service|target|scope)$/.test(name) ? name : `${name}.service`
  const short = unit.replace(/\.service$/, '')

  const systemctl = (parameters: readonly string[], timeoutMs = options.timeoutMs): Promise<ProgramResult> =>
    runProgram(['systemctl', '--no-ask-password', ...parameters], {
      ...options,
      timeoutMs,
      // timestamps are printed in the caller's zone and language
      environment: { ...options.environment, TZ: 'UTC', LC_ALL: 'C', SYSTEMD_COLORS: '0', SYSTEMD_PAGER: '' },
    })

  const show = async (properties: string): Promise<Properties> => {
    const result = await systemctl(['show', unit, `--property=${properties}`])
    if (result.exitCode !== 0) throw failure('show', result)
    const shown = parseProperties(result.stdout)
    if (one(shown, 'LoadState') === 'not-found') {
      throw new AdminError('UNAVAILABLE', `this machine has no systemd unit \`${unit}\``, [
        'systemctl list-units --all --type=service',
      ])
    }
    return shown
  }

  const act = async (verb: 'start' | 'stop', timeoutMs: number): Promise<void> => {
    const result = await systemctl([verb, unit], timeoutMs)
    if (result.exitCode !== 0) throw failure(verb, result)
  }

  const failure = (verb: string, result: ProgramResult): AdminError => {
    const said = `${result.stderr}${result.stdout}`
    if (/not been booted with systemd|connect to (?:the )?(?:system )?bus|D-Bus/i.test(said)) {
      return new AdminError('UNAVAILABLE', `cannot ${verb} \`${unit}\`: systemd is not running on this machine`, [
        'set `host.commands` in the configuration',
      ])
    }
    if (/access denied|authentication (?:is )?required|not permitted|permission denied/i.test(said)) {
      return new AdminError('FORBIDDEN', `this user may not ${verb} \`${unit}\``, [
        command`sudo systemctl ${verb} ${short}`,
      ])
    }
    if (/not (?:be )?found|not loaded/i.test(said)) {
      return new AdminError('UNAVAILABLE', `this machine has no systemd unit \`${unit}\``, [
        'systemctl list-units --all --type=service',
      ])
    }
    const next = verb === 'show' ? command`systemctl status ${short}` : command`journalctl -u ${short} -n 50 --no-pager`
    return new AdminError(
      verb === 'show' ? 'UNEXPECTED_ANSWER' : 'FAILED',
      `\`${typed(['systemctl', verb, short])}\` ${endOf(result)}`,
      [next],
    )
  }

  const as = options.superuser ? [] : ['sudo']
  return {
    async status() {
      const properties = await show(statusProperties)
      const status = statusOf(properties)
      if (!status)
        throw new AdminError('UNEXPECTED_ANSWER', `systemctl shows no state of \`${unit}\``, [
          command`systemctl status ${short}`,
        ])
      return status
    },
    health: async () => healthOf(await show(statusProperties)),
    start: ({ timeoutMs }) => act('start', timeoutMs),
    stop: ({ timeoutMs }) => act('stop', timeoutMs),
    async environment() {
      const properties = await show('LoadState,Environment,EnvironmentFiles')
      const assignments = (properties.get('Environment') ?? []).flatMap(wordsOf)
      const variables = new Map(
        assignments.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
      )
      const named = (properties.get('EnvironmentFiles') ?? []).flatMap((line) => {
        const [, path, ignored] = /^(.+?)(?: \(ignore_errors=(yes|no)\))?$/.exec(line) ?? []
        return path ? [{ path, optional: ignored === 'yes' }] : []
      })
      return { variables, files: (await Promise.all(named.map(matching))).flat() }
    },
    async definition() {
      const result = await systemctl(['cat', unit])
      if (result.exitCode !== 0) throw failure('show', result)
      return definitionIn(result.stdout)
    },
    commands: {
      start: typed([...as, 'systemctl', 'start', short]),
      stop: typed([...as, 'systemctl', 'stop', short]),
      restart: typed([...as, 'systemctl', 'restart', short]),
      status: typed(['systemctl', 'status', short]),
      logs: typed([...as, 'journalctl', '-u', short, '-n', '200', '--no-pager']),
      processes: javaProcesses,
      edit: typed([...as, 'systemctl', 'edit', short]),
      settings: sentence`the unit ${unit} (${nested(typed([...as, 'systemctl', 'edit', short]))})`,
    },
    // bare messages: the service writes its own times
    log: { command: ['journalctl', '-u', unit, '-o', 'cat', '--no-pager', '-q', '-n', '50000'] },
  }
}

/**
 * Returns the files that an entry of `EnvironmentFile=` stands for, in the order in which systemd reads them
 * (systemd.exec(5); glob(7)). Returns the entry itself if it is no pattern, or matches nothing. Throws FORBIDDEN if a
 * folder may not be read.
 */
async function matching(entry: EnvironmentFile): Promise<EnvironmentFile[]> {
  if (!isPattern(entry.path)) return [entry]
  let found = ['/']
  for (const part of entry.path.split('/').filter(Boolean)) {
    found = isPattern(part)
      ? (await Promise.all(found.map(async (folder) => namesIn(folder, part)))).flat()
      : found.map((folder) => join(folder, part))
  }
  const there = await Promise.all(found.map(isThere))
  const files = found.filter((_, index) => there[index])
  return files.length === 0 ? [entry] : files.sort().map((path) => ({ ...entry, path }))
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => codeOf(error) === 'EACCES',
  )
}

function isPattern(text: string): boolean {
  return /[*?[]/.test(text)
}

async function namesIn(folder: string, part: string): Promise<string[]> {
  const fits = fitting(part)
  try {
    return (await readdir(folder)).filter(fits).map((name) => join(folder, name))
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw new AdminError(
      'FORBIDDEN',
      `this user cannot list the service's settings files in ${folder}`,
      [command`ls -l ${folder}`, 'run the same command with sudo'],
      { cause: error },
    )
  }
}

/** Returns a test for names that match a pattern; only a literal dot matches a leading dot. */
function fitting(part: string): (name: string) => boolean {
  // a bracket that is not closed is a plain character
  const closed = part.slice(0, part.lastIndexOf(']') + 1)
  const classes = closed.match(/\[!?[^\]]+\]?|[^]/g) ?? []
  const signs = [
    ...classes.flatMap((sign) => (sign.length > 1 ? classOf(sign) : plainGlob(sign))),
    ...plainGlob(part.slice(closed.length)),
  ]
  return (name) => (part.startsWith('.') || !name.startsWith('.')) && fitsGlob(signs, name)
}

/** Returns a test for the characters of a class: `[a-z_]`, `[!0-9]`. */
function classOf(text: string): GlobSign {
  const inner = new RegExp(`[${text.slice(1, -1).replace(/^!/, '^').replaceAll('\\', '\\\\')}]`)
  return (character) => inner.test(character)
}
