import type { Remedy } from '../core/check.ts'
import type { Deployment } from '../core/deployment.ts'
import type { Plan } from '../core/plan.ts'
import { withoutSecretsIn } from '../core/redaction/document.ts'
import type { ServiceCommands } from '../core/sources.ts'
import { onDeployment, typed } from '../core/typed.ts'
import { command, nested, withFilled } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'

const placeholder = /(-d )?\{(deployment|start|stop|restart|status|logs|processes|settings|edit|values)\}/g

const inWords: ServiceCommands = {
  start: 'start the service',
  stop: 'stop the service',
  restart: 'restart the service',
  status: "ask the platform for the service's state",
  logs: "read the service's log",
  processes: "list the processes on the service's machine, or in its container",
  settings: "the service's settings",
  edit: "change the service's settings",
}

/** Fills a sentence for this deployment. What its platform cannot name is said in words. */
export function fill(text: string, deployment: Deployment, commands: ServiceCommands | null): string {
  return text.replace(placeholder, said(deployment, commands))
}

function said(
  { name: deployment, config, file }: Deployment,
  commands: ServiceCommands | null,
): (...found: string[]) => Suggestion {
  return (_, before: string | undefined, name: string) => {
    const known = commands ?? inWords
    if (name !== 'deployment') {
      const flag = before === undefined ? '' : '-d '
      return command`${nested(flag)}${nested(known[name as keyof ServiceCommands] ?? known.edit)}`
    }
    return before === undefined ? typed([deployment]) : onDeployment(deployment, config, file)
  }
}

/** Fills a command for this deployment. A command that its platform cannot name becomes a comment in words. */
export function fillCommand(asked: Suggestion, deployment: Deployment, commands: ServiceCommands | null): Suggestion {
  const isUnknown = commands === null && /\{(?!deployment\})[a-z]+\}/.test(asked)
  const filled = withFilled(asked, placeholder, said(deployment, commands))
  return isUnknown ? command`# ${nested(filled)}` : filled
}

/** Fills a remedy for this deployment. */
export function fillRemedy(remedy: Remedy, deployment: Deployment, commands: ServiceCommands | null): Remedy {
  const filled = (text: string): string => fill(text, deployment, commands)
  return {
    ...remedy,
    text: filled(remedy.text),
    commands: remedy.commands.map((command) => fillCommand(command, deployment, commands)),
    ...(remedy.risk === undefined ? {} : { risk: filled(remedy.risk) }),
    ...(remedy.undo === undefined ? {} : { undo: withFilled(remedy.undo, placeholder, said(deployment, commands)) }),
  }
}

/**
 * Fills a plan for this deployment: its commands can be typed there, and its texts from other sources hold no secrets.
 */
export function fillPlan(plan: Plan, deployment: Deployment, commands: ServiceCommands | null): Plan {
  const filled = (command: Suggestion): Suggestion => fillCommand(command, deployment, commands)
  const inText = (text: string): string => fill(text, deployment, commands)
  return {
    ...plan,
    ...withoutSecretsIn({
      evidence: plan.evidence.map(filled),
      notes: plan.notes.map(inText),
      risks: plan.risks.map(({ name, message, proof }) => ({
        name,
        message: inText(message),
        proof: proof.map(filled),
      })),
    }),
  }
}
