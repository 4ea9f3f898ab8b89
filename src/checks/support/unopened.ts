import type { Check } from '../../core/check.ts'
import type { Deployment, SecretName } from '../../core/deployment.ts'
import type { AdminError, ErrorCode, NetworkObstacle, Obstacle } from '../../core/error.ts'
import { hostInWords, listenersOn, typedOn } from '../../core/host.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { editConfiguration, enterSecret } from './by-hand.ts'

/** A part of the deployment, and what is particular to it where it cannot be opened. */
interface Part {
  /** where its address and credentials are kept */
  kept: string
  /** how its address says whether it is encrypted, and under which key its certificate authority is named */
  tls: { scheme: string; key: string; starttls?: 'postgres' }
  /** where nothing listens on `host` */
  refused: (at: Endpoint, deployment: Deployment) => Step
  /** which secret of the configuration opens it */
  secret: SecretName
  /** where it is there and does not serve */
  unwell: Step
  /** what is to be done about what it says, where that is particular to it */
  said: Partial<Record<ErrorCode, string>>
}

type Endpoint = Pick<NetworkObstacle, 'host' | 'port'>

/**
 * What is to be done, what is typed for it, then the flags of the doctor that looks again, then what is left to type.
 */
interface Step {
  text: string
  commands?: readonly Suggestion[]
  flags?: Suggestion
  afterwards?: readonly Suggestion[]
}

/** What is done about each reason for which a source cannot be opened: only what does not run is started. */
export function unopened(id: string, part: Part): NonNullable<Check['unopened']> {
  return (error, deployment) => {
    const { text, commands = [], flags = '', afterwards = [] } = stepFor(error, part, deployment)
    return {
      text,
      commands: [
        ...commands,
        command`testops-admin doctor -d {deployment} --only ${id}${nested(flags)}`,
        ...afterwards,
      ],
    }
  }
}

function stepFor(error: AdminError, part: Part, deployment: Deployment): Step {
  const { obstacle } = error
  if (obstacle === null || obstacle.kind === 'settings' || obstacle.kind === 'right' || obstacle.kind === 'beyond')
    return stepForCode(error, part, deployment)
  if (obstacle.kind === 'instances')
    return {
      text: deployment.platform === 'kubernetes' ? withoutPods : withoutContainer,
      commands: error.suggestions,
      flags: ' --wait',
    }
  if (obstacle.kind === 'disk') return { text: fullDisk, commands: error.suggestions }
  if (obstacle.kind !== 'login') return stepAround(obstacle, part, deployment)
  const step = stepForCode(error, part, deployment)
  return { ...step, text: `${step.text} ${loginOnly}` }
}

const fullDisk = 'Make room on the disk of its data, or enlarge it. Never delete files of its data by hand.'

const withoutPods =
  'See why its pods are not ready: what they wait for, how they ended, or what became of their node. A node that is lost has to come back, or to be given up, before they are started elsewhere.'

const withoutContainer = 'See what became of its container, and have compose make it again.'

const loginOnly =
  'What was refused is the login of the configuration: the service may have another, so nothing else is put down to this.'

/** What is done about something that stands between here and the part. */
function stepAround(
  obstacle: Exclude<Obstacle, { kind: 'login' | 'disk' | 'instances' | 'settings' | 'right' | 'beyond' }>,
  { kept, tls, refused }: Part,
  deployment: Deployment,
): Step {
  const { host, port } = obstacle
  const at = addressOf(obstacle)
  const openssl = command`openssl s_client ${nested(tls.starttls ? command`-starttls ${tls.starttls} ` : '')}-connect ${at} </dev/null`
  switch (obstacle.kind) {
    case 'refused':
      return refused({ host, port }, deployment)
    case 'unresolved':
      return {
        text: `Correct the host name ${host} (${kept}), or make it resolve on this machine.`,
        commands: [command`getent hosts ${host}`],
      }
    case 'unrouted':
      return {
        text: `See why this machine finds no way to ${host}: network, VPN or firewall.`,
        commands: [connecting({ host, port })],
      }
    case 'tls':
      return {
        text: `Make both sides agree on TLS: name the certificate authority (\`${tls.key}\` in the configuration), have the certificate renewed, or correct ${tls.scheme}.`,
        commands: [openssl],
      }
    case 'client-certificate':
      return {
        text: 'It wants a client certificate, and this program has none: have it let this program in without one.',
        commands: [openssl],
      }
    case 'misnamed':
      return {
        text: `Have its address (${kept}) use a name that the certificate holds, or have a certificate issued that holds ${host}.`,
        commands: [command`${nested(openssl)} | openssl x509 -noout -subject -ext subjectAltName`],
      }
    case 'proxy':
      return {
        text: `Correct the proxy ${at} that the environment of this command names, or have NO_PROXY name what is to be reached without it.`,
        commands: ['env | cut -d= -f1 | grep -i proxy   # the variables that name it'],
      }
  }
}

function stepForCode(
  { code, suggestions }: AdminError,
  { kept, said, unwell, secret }: Part,
  deployment: Deployment,
): Step {
  const text = said[code]
  if (text !== undefined)
    return {
      text,
      commands: [code === 'UNAUTHENTICATED' ? enterSecret(secret, deployment) : editConfiguration(deployment)],
    }
  switch (code) {
    case 'UNREACHABLE':
      return unwell
    case 'TIMED_OUT':
      return {
        text: 'It did not answer in time: see whether its machine is up and not overloaded, and whether a firewall lets this machine through. One that accepts and is silent may be another program, or speak TLS where none is asked for (or none where it is).',
        flags: ' --timeout 30',
        commands: suggestions,
      }
    case 'EXHAUSTED':
      return {
        text: 'It runs, and takes no further connection: end those that nobody needs, or allow more of them.',
        commands: suggestions,
      }
    case 'UNEXPECTED_ANSWER':
      return {
        text: `Correct its address (${kept}), where something else answers; else its log says more.`,
        commands: [editConfiguration(deployment)],
      }
    default:
      return {
        text: "Correct the configuration, or the service's settings, in what is named; then look again.",
        commands: [editConfiguration(deployment)],
      }
  }
}

/**
 * How the start of a server is told: `unit` as systemctl finds it whatever its version, `service` as it is mostly
 * called; `unbootable`: what is typed where it will not start.
 */
export function server(
  name: string,
  { unit, service, unbootable }: { unit: string; service: string; unbootable?: Suggestion },
  kept: string,
): Pick<Part, 'kept' | 'refused' | 'unwell'> {
  return {
    kept,
    refused: ({ host, port }, { platform }) => ({
      text: `Start ${name} on ${hostInWords(host)}, or correct its address (${kept}). The service reconnects by itself or needs a restart.`,
      // in a container systemd knows nothing of it
      commands: [
        ...(platform === 'host'
          ? [command`sudo systemctl start ${service}`, command`systemctl status ${unit}`]
          : [listenersOn(port)]
        ).map((command) => typedOn(host, command)),
        ...(unbootable === undefined ? [] : [command`${nested(unbootable)}   # where it will not start`]),
      ],
      afterwards: ['{restart}'],
    }),
    unwell: {
      text: `${name} is there, and does not serve: it starts, stops or fails. Where it only starts, wait; else its log says why.`,
      flags: ' --wait',
    },
  }
}

/** What shows whether a connection comes about from here. */
function connecting(at: Endpoint): Suggestion {
  return command`curl -sv --max-time 3 ${`telnet://${addressOf(at)}`} </dev/null`
}

function addressOf({ host, port }: Endpoint): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/**
 * Where address and credentials are written: under a key of the configuration, else in settings named like this one.
 */
export function keptIn(key: string, setting: string): string {
  return `\`${key}\` in the configuration, else ${setting.replace(/_[A-Z]+$/, '_…')} in {settings}`
}
