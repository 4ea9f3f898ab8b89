import { traitsOf } from '../../knowledge/platforms.ts'
import type { Check } from '../../core/check.ts'
import type { Deployment, SecretName } from '../../core/deployment.ts'
import type { AdminError, ErrorCode, NetworkObstacle, Obstacle } from '../../core/error.ts'
import { hostInWords, listenersOn, typedOn } from '../../core/host.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { editConfiguration, enterSecret } from '../../domain/by-hand.ts'

/** A part of the deployment, and its own remedies for when it cannot be opened. */
interface Part {
  /** Where its address and credentials are kept */
  kept: string
  /** How its address says that it is encrypted, and the key that names its certificate authority */
  tls: { scheme: string; key: string; starttls?: 'postgres' }
  /** What to do if nothing listens on `host` */
  refused: (at: Endpoint, deployment: Deployment) => Step
  /** The secret of the configuration that opens it */
  secret: SecretName
  /** What to do if it is there and does not serve */
  unwell: Step
  /** What to do about its own errors, by their codes */
  said: Partial<Record<ErrorCode, string>>
}

type Endpoint = Pick<NetworkObstacle, 'host' | 'port'>

/** What to do, the commands for it, the flags of the doctor that checks again, and the commands after that. */
interface Step {
  text: string
  commands?: readonly Suggestion[]
  flags?: Suggestion
  afterwards?: readonly Suggestion[]
}

/** Returns the remedy for each reason why a source cannot be opened. Only what does not run is started. */
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
      text: traitsOf(deployment).withoutInstances,
      commands: error.suggestions,
      flags: ' --wait',
    }
  if (obstacle.kind === 'disk') return { text: fullDisk, commands: error.suggestions }
  if (obstacle.kind !== 'login') return stepAround(obstacle, part, deployment)
  const step = stepForCode(error, part, deployment)
  return { ...step, text: `${step.text} ${loginOnly}` }
}

const fullDisk = "Free space on the server's data disk, or enlarge the disk. Never delete data files by hand."

const loginOnly =
  'The refused login is the one in the configuration of testops-admin. The service may use another login, so ' +
  'this refusal may not explain other problems.'

/** Returns what to do about something that stands between this machine and the part. */
function stepAround(
  obstacle: Exclude<Obstacle, { kind: 'login' | 'disk' | 'instances' | 'settings' | 'right' | 'beyond' }>,
  { kept, tls, refused }: Part,
  deployment: Deployment,
): Step {
  const { host, port } = obstacle
  const at = addressOf(obstacle)
  const openssl = command`openssl s_client ${nested(tls.starttls ? command`-starttls ${tls.starttls} ` : '')}-connect
    ${at} </dev/null`
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
        text: `Find out why this machine cannot reach ${host}: network, VPN or firewall.`,
        commands: [connecting({ host, port })],
      }
    case 'tls':
      return {
        text:
          `Make testops-admin and the server agree on TLS: set the certificate authority (\`${tls.key}\` in the ` +
          `configuration), renew the server's certificate, or correct ${tls.scheme}.`,
        commands: [openssl],
      }
    case 'client-certificate':
      return {
        text:
          'The server wants a client certificate, and testops-admin has none. Configure the server so that ' +
          'testops-admin can connect without a client certificate.',
        commands: [openssl],
      }
    case 'misnamed':
      return {
        text:
          `Use a name from the server's certificate in the address (${kept}), or get the server a certificate ` +
          `for ${host}.`,
        commands: [command`${nested(openssl)} | openssl x509 -noout -subject -ext subjectAltName`],
      }
    case 'proxy':
      return {
        text:
          `Correct the proxy ${at} in the environment variables of this command. Or list the hosts that need no ` +
          `proxy in \`NO_PROXY\`.`,
        commands: ['env | cut -d= -f1 | grep -i proxy   # lists the variables that set a proxy'],
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
        text:
          'The server timed out. Check that its machine is up and not overloaded, and that no firewall blocks ' +
          'connections from this machine. If the server accepts connections but stays silent, another program ' +
          'may be listening on its address, or only one side may be using TLS.',
        flags: ' --timeout 30',
        commands: suggestions,
      }
    case 'EXHAUSTED':
      return {
        text:
          'The server is running, but accepts no more connections. End connections that nobody needs, or allow ' +
          'more.',
        commands: suggestions,
      }
    case 'UNEXPECTED_ANSWER':
      return {
        text: `If the address leads to another program, correct the address (${kept}). If not, read the server's log.`,
        commands: [editConfiguration(deployment)],
      }
    default:
      return {
        text:
          'Correct the entry that the message names, in the configuration or in ' +
          "the service's settings. Then check again.",
        commands: [editConfiguration(deployment)],
      }
  }
}

/**
 * Returns how to start a server. `unit` is what systemctl finds in every version, `service` its usual name,
 * `unbootable` the command for a server that will not start.
 */
export function server(
  name: string,
  { unit, service, unbootable }: { unit: string; service: string; unbootable?: Suggestion },
  kept: string,
): Pick<Part, 'kept' | 'refused' | 'unwell'> {
  return {
    kept,
    refused: ({ host, port }, deployment) => ({
      text:
        `Start ${name} on ${hostInWords(host)}, or correct its address (${kept}). If the service does not ` +
        'reconnect by itself, restart the service.',
      // systemd knows nothing about a server in a container
      commands: [
        ...(traitsOf(deployment).sharesMachine
          ? [command`sudo systemctl start ${service}`, command`systemctl status ${unit}`]
          : [listenersOn(port)]
        ).map((command) => typedOn(host, command)),
        ...(unbootable === undefined ? [] : [command`${nested(unbootable)}   # if it does not start`]),
      ],
      afterwards: ['{restart}'],
    }),
    unwell: {
      text:
        `${name} is running, but is not ready: it is starting, stopping or failing. If it is starting, wait. If not, ` +
        'its log says why.',
      flags: ' --wait',
    },
  }
}

/** Returns the command that shows if this machine can connect. */
function connecting(at: Endpoint): Suggestion {
  return command`curl -sv --max-time 3 ${`telnet://${addressOf(at)}`} </dev/null`
}

function addressOf({ host, port }: Endpoint): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/**
 * Returns where address and credentials are written: under a key of the configuration, else in settings named like this
 * one.
 */
export function keptIn(key: string, setting: string): string {
  return `\`${key}\` in the configuration or, if that is not set, ${setting.replace(/_[A-Z]+$/, '_…')} in {settings}`
}
