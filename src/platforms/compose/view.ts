import { AdminError } from '../../core/error.ts'
import { inFlight } from '../../core/answers.ts'
import type { ServiceCommands } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import type { PlatformOptions } from '../platform.ts'
import { composeContainers } from './containers.ts'
import type { Container } from './containers.ts'
import { findEngine, withoutEngine } from './engine.ts'
import type { Engine } from './engine.ts'
import { findServices, theOnly } from './find.ts'
import type { ComposeSettings, FoundService } from './find.ts'
import { configured, declares, shortWordsOf } from './project.ts'
import type { Declared } from './project.ts'
import { commaList, command, editing, sentence } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

/** The service once it has been found. */
export interface View {
  engine: Engine
  found: FoundService
  /** Lists the present containers: those of its project, and its own among them */
  containers(): Promise<{ own: readonly Container[]; project: readonly Container[] }>
  /** Returns what its files declare now; null if they are not on this machine. Throws if they are invalid */
  declared(): Promise<Declared | null>
}

/** Finds the service. Throws UNAVAILABLE, CONFIGURATION, FORBIDDEN, TIMED_OUT, UNEXPECTED_ANSWER. */
export async function viewOf(settings: ComposeSettings, options: PlatformOptions): Promise<View> {
  const engine = await findEngine(options)
  if (engine === null) throw withoutEngine()
  const found = theOnly(await findServices(engine, settings, options.environment), engine, settings)
  const { project, service, files } = found
  return {
    engine,
    found,
    containers: inFlight(async () => {
      const all = await composeContainers(engine, project)
      return { own: all.filter((it) => it.service === service), project: all }
    }),
    declared: inFlight(async () => {
      if (files === null) return null
      const declared = (await configured(engine, files, { has: declares(service) })).services.find(
        ({ name }) => name === service,
      )
      if (declared) return declared
      throw new AdminError('UNAVAILABLE', `the service \`${service}\` is missing from ${files.files.join(', ')}`, [
        command`ls -l ${files.files}`,
      ])
    }),
  }
}

/** Returns the commands that an operator would type; `names`: of the service's containers. */
export function commandsOf(
  { found: { service, files, project }, engine: { program } }: Pick<View, 'found' | 'engine'>,
  compose: readonly string[],
  names: readonly string[],
): ServiceCommands {
  const [first = service] = names
  const word = (...words: string[]): ShellCommand =>
    files === null
      ? typed([program, ...words, ...(names.length === 0 ? [service] : names)])
      : typed([...compose, ...shortWordsOf(files), ...words, service])
  // without a container, there is nothing to start, and no log
  const isMade = files === null || names.length > 0
  return {
    start: isMade ? word('start') : word('up', '-d'),
    stop: word('stop'),
    restart: isMade ? word('restart') : word('up', '-d'),
    status: typed([program, 'ps', '--all', '--filter', `label=com.docker.compose.project=${project}`]),
    logs: isMade ? typed([program, 'logs', '--tail', '200', first]) : word('logs', '--tail', '200'),
    processes: isMade ? typed([program, 'top', first]) : word('top'),
    edit: files === null ? sentence`# change the compose file of project ${project}` : editing(files.files[0]!),
    settings: files === null ? sentence`the compose file of project ${project}` : commaList(settingsFilesOf(files)!),
  }
}

/** Lists the files in which the service's settings are written; null if they are not on this machine. */
export function settingsFilesOf(files: FoundService['files']): readonly string[] | null {
  return files === null ? null : [...files.files, `${files.folder}/.env`]
}
