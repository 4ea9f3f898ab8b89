import { dirname } from 'node:path'
import { AdminError } from '../../core/error.ts'
import { harmless } from '../../core/harmless.ts'
import { isTimeZone } from '../../core/local-time.ts'
import { asPath, commaList, command } from '../../core/shell-command.ts'
import type { TemplateFacts, TemplateFile } from './facts.ts'

const folder = '/etc/testops-admin'
const defaultSchedule = '*:0/15'
/** Characters of calendar events: a unit takes each of them as it stands */
const calendarText = /^[\w *:,./~+@-]{1,200}$/
/** Calendar events by their form (systemd.time(7)), where no systemd can be asked */
const calendarForm = formOfCalendar()
/** Time zones as systemd spells them. It knows none of three letters but these, where this program knows more. */
const zoneForm = new RegExp(
  '^(?:GB|NZ|CET|EET|EST|GMT|HST|MET|MST|PRC|ROC|ROK|UCT|UTC|WET|[A-Z][\\w+-]{3,}(?:\\/[A-Z][\\w+-]*){0,2})$',
)

/** Returns a service and a timer that run doctor, and their configuration. Throws USAGE for what no unit can hold. */
export async function systemdFiles(facts: TemplateFacts): Promise<TemplateFile[]> {
  const { name, platform, groups, program, options } = facts
  const { schedule = defaultSchedule, textfile } = options
  if (!calendarText.test(schedule) || !((await facts.isCalendarEvent(schedule)) ?? hasCalendarForm(schedule)))
    throw new AdminError('USAGE', `--schedule \`${schedule}\` is not a calendar event of systemd`, [
      command`--schedule ${defaultSchedule}`,
      'man 7 systemd.time   # CALENDAR EVENTS',
    ])
  if (textfile !== undefined && (!textfile.startsWith('/') || !textfile.endsWith('.prom')))
    throw new AdminError('USAGE', '--textfile must be an absolute path that ends in .prom', [
      '--textfile /var/lib/prometheus/node-exporter/testops.prom',
    ])
  const unit = `testops-admin-${unitName(name)}`
  const configuration = `${folder}/${unit}.yaml`
  const variables: string[] = []
  const credentials: { key: string; path: string; isToCreate: boolean }[] = []
  const { settings, omitted } = facts.moved({
    secret(key, place) {
      if (place.form === 'env') {
        variables.push(place.variable)
        return { env: place.variable }
      }
      const isFile = place.form === 'file'
      credentials.push({ key, path: isFile ? place.path : `${folder}/${unit}.${key}`, isToCreate: !isFile })
      return { file: `/run/credentials/${unit}.service/${key}` }
    },
    file: (_, path) => path,
    // these take root, or the broker's own user; files of checks have to belong to whoever runs them
    omitted: ['broker.rabbitmqctl', 'checks'],
  })
  const toCreate = credentials.filter(({ isToCreate }) => isToCreate).map(({ path }) => path)
  const environmentFile = `${folder}/${unit}.env`
  const prepared = `/run/${unit}/testops.prom`
  const doctor = [
    ...program,
    'doctor',
    `--deployment=${name}`,
    '--config',
    configuration,
    ...(textfile === undefined ? ['--fail-on', 'error'] : ['--output', prepared]),
  ]
  const install = (file: string, to: string): string => command`sudo install -D -m 0644 ${file} ${to}`
  const about = [
    `Runs doctor for deployment ${harmless(name)}. It changes nothing. Install it:`,
    ...[
      install(`${unit}.yaml`, configuration),
      ...['service', 'timer'].map((it) => install(`${unit}.${it}`, `/etc/systemd/system/${unit}.${it}`)),
      command`sudo systemctl daemon-reload && sudo systemctl enable --now ${`${unit}.timer`}`,
    ].map((line) => `  ${line}`),
    ...(variables.length === 0
      ? []
      : [`First write ${environmentFile}, for root alone, with: ${variables.map((it) => `${it}=…`).join(' ')}`]),
    ...(toCreate.length === 0
      ? []
      : [`First write the secrets, each into a file of its own for root alone: ${commaList(toCreate)}`]),
    ...(omitted.length === 0 ? [] : [`Left out of the configuration: ${commaList(omitted)}`]),
    'doctor runs as a user of its own. If it may not read a file, name a group that may: SupplementaryGroups=',
  ]
  const service = [
    ...about.map((line) => `# ${harmless(line)}`),
    '',
    '[Unit]',
    `Description=Diagnose the testops deployment ${escaped(name)}`,
    'Wants=network-online.target',
    'After=network-online.target',
    '',
    '[Service]',
    'Type=oneshot',
    `ExecStart=${doctor.map(word).join(' ')}`,
    'TimeoutStartSec=10min',
    'DynamicUser=yes',
    `SupplementaryGroups=${groups.join(' ')}`,
    'Environment=TESTOPS_ADMIN_READ_ONLY=1',
    ...(variables.length === 0 ? [] : [`EnvironmentFile=${environmentFile}`]),
    ...credentials.map(({ key, path }) => `LoadCredential=${key}:${escaped(plainPath(path))}`),
    ...(textfile === undefined ? [] : published(prepared, plainPath(textfile), unit)),
    ...hardening,
    '',
  ]
  const timer = [
    '[Unit]',
    `Description=Diagnose the testops deployment ${escaped(name)} regularly`,
    '',
    '[Timer]',
    `OnCalendar=${schedule}`,
    'RandomizedDelaySec=30s',
    'Persistent=yes',
    '',
    '[Install]',
    'WantedBy=timers.target',
    '',
  ]
  return [
    { name: `${unit}.service`, content: service.join('\n') },
    { name: `${unit}.timer`, content: timer.join('\n') },
    {
      name: `${unit}.yaml`,
      content: [
        {
          about: [`The configuration of ${unit}.service. It holds no secrets.`],
          value: { current: name, deployments: { [name]: { ...settings, platform } } },
        },
      ],
    },
  ]
}

function formOfCalendar(): RegExp {
  const several = (one: string): string => `${one}(?:,${one})*`
  const more = '\\d+(?:\\.\\d+)?'
  // a number with leading zeros, which is read in one way alone, the end of a range, and a step, which may lead past
  // the last number
  const part = (number: string): string =>
    `(?:\\*|${several(`0*(?!0\\d)(?:${number})(?:\\.\\.${more})?(?:/(?!0+(?![\\d.]))${more})?`)})`
  const sixty = part('[1-5]?\\d(?:\\.\\d+)?')
  const day = '(?:mon(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)'
  const days = `${several(`${day}(?:(?:\\.\\.|-)${day})?`)},?`
  const date = `(?:${part('\\d{1,4}')}-)?${part('[1-9]|1[0-2]')}[-~]${part('[1-9]|[12]\\d|3[01]')}`
  const time = `${part('1?\\d|2[0-3]')}:${sixty}(?::${sixty})?`
  const names = '(?:minute|hour|dai|month|annual|anual|year|week|quarter|biannual|bi-annual|semiannual|semi-annual)ly'
  const event = `(?:${names}|@\\d+|(?=\\S)(?:${days}(?= |$))?(?: *(?:${date})(?= |$))?(?: *${time})?)`
  return new RegExp(`^${event}(?: ([a-z][\\w+/-]*))?$`, 'i')
}

function hasCalendarForm(schedule: string): boolean {
  const [whole, zone] = calendarForm.exec(schedule) ?? []
  return whole !== undefined && (zone === undefined || (zoneForm.test(zone) && isTimeZone(zone)))
}

/** A name in that folder ends otherwise until it is whole: the collector reads *.prom alone. */
function published(from: string, to: string, unit: string): string[] {
  const next = `${to}.new`
  return [
    // what doctor found is in the file; the unit fails only if doctor could not run
    'SuccessExitStatus=1 2 3',
    `RuntimeDirectory=${unit}`,
    `ExecStartPost=+/usr/bin/install -m 0644 ${word(from)} ${word(next)}`,
    `ExecStartPost=+/usr/bin/mv -T ${word(next)} ${word(to)}`,
  ]
}

/** MemoryDenyWriteExecute is not among them: Node compiles as it runs. */
const hardening = [
  'UMask=0022',
  'ProtectSystem=strict',
  'ProtectHome=read-only',
  'PrivateTmp=yes',
  'PrivateDevices=yes',
  'ProtectClock=yes',
  'ProtectControlGroups=yes',
  'ProtectHostname=yes',
  'ProtectKernelLogs=yes',
  'ProtectKernelModules=yes',
  'ProtectKernelTunables=yes',
  'NoNewPrivileges=yes',
  'CapabilityBoundingSet=',
  'LockPersonality=yes',
  'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'RemoveIPC=yes',
  'SystemCallArchitectures=native',
  'SystemCallFilter=@system-service',
]

/** Returns a word of a command line as systemd reads it (systemd.service(5), "Command lines"). */
function word(text: string): string {
  const plain = escaped(plainPath(text)).replaceAll('$', '$$$$')
  return /^[\w@+=:,./%$-]+$/.test(plain) ? plain : `"${plain.replace(/["\\]/g, '\\$&')}"`
}

/** Returns text in which systemd expands nothing (systemd.unit(5), "Specifiers"). */
function escaped(text: string): string {
  return harmless(text).replaceAll('%', '%%')
}

/** Throws USAGE for a path that a line of a unit cannot hold. */
function plainPath(path: string): string {
  if (path === harmless(path) && !path.endsWith('\\') && path.trim() === path) return path
  throw new AdminError('USAGE', `a unit of systemd cannot name \`${harmless(path)}\`: rename the file`, [
    command`ls -lb ${asPath(dirname(path))}`,
  ])
}

/** Returns a deployment's name for a unit: names of deployments have few other characters than those of units. */
function unitName(deployment: string): string {
  return deployment.replace(/[^\w.-]/g, (it) => Buffer.from(it).toString('hex'))
}
