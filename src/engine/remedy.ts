import type { Remedy } from '../core/check.ts'
import type { Deployment } from '../core/deployment.ts'
import type { ServiceCommands } from '../core/sources.ts'

const placeholder = /\{(deployment|start|stop|restart|status|logs|settings)\}/g

const inWords: Record<keyof ServiceCommands, string> = {
  start: 'start the service',
  stop: 'stop the service',
  restart: 'restart the service',
  status: "ask the platform for the service's state",
  logs: "read the service's log",
  settings: "the service's settings",
}

/** The remedy as it is typed on this deployment. A command that its platform cannot name becomes a comment in words. */
export function fillRemedy(remedy: Remedy, deployment: Deployment, commands: ServiceCommands | null): Remedy {
  const fill = (text: string): string =>
    text.replace(placeholder, (_, name: string) =>
      name === 'deployment' ? quote(deployment.name) : (commands ?? inWords)[name as keyof ServiceCommands],
    )
  const isUnknown = (command: string): boolean => commands === null && /\{(?!deployment\})[a-z]+\}/.test(command)
  return {
    ...remedy,
    text: fill(remedy.text),
    commands: remedy.commands.map((command) => (isUnknown(command) ? `# ${fill(command)}` : fill(command))),
    ...(remedy.risk === undefined ? {} : { risk: fill(remedy.risk) }),
    ...(remedy.undo === undefined ? {} : { undo: fill(remedy.undo) }),
  }
}

/** As one word of a shell. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
