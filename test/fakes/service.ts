import type { Secret } from '../../src/core/secret.ts'
import type {
  ComposedImage,
  DriftingSetting,
  InstanceHealth,
  Machine,
  ServiceCommands,
  ServiceHealth,
  ServiceImage,
  ServiceSource,
  ServiceStatus,
  SettingsDrift,
} from '../../src/core/sources.ts'
import { ago, fake } from './fake.ts'
import type { Answers } from './fake.ts'

/** x86-64-v3 flags as in /proc/cpuinfo (FIELD-NOTES.md 5). */
export const v3Flags: readonly string[] = (
  'fpu cx8 cmov fxsr mmx syscall sse sse2 lm cx16 lahf_lm popcnt pni ssse3 sse4_1 sse4_2 ' +
  'avx avx2 bmi1 bmi2 f16c fma abm movbe xsave'
).split(' ')

export const commands: ServiceCommands = {
  start: 'systemctl start testops',
  stop: 'systemctl stop testops',
  restart: 'systemctl restart testops',
  status: 'systemctl status testops',
  logs: 'journalctl -u testops',
  processes: 'ps -fC java',
  settings: '/etc/testops/testops.env',
  edit: '${EDITOR:-vi} /etc/testops/testops.env',
}

/** A running service of build 527u01 on one machine with x86-64-v3, unless told otherwise. */
export function fakeService(answers: Answers<ServiceSource> = {}): ServiceSource {
  return fake<ServiceSource>(
    {
      status: running(),
      environment: settings(),
      image: image(),
      machines: [machine()],
      resolve: true,
      controllers: [],
      startObstacles: [],
      startLimit: null,
      definitions: [],
      lacks: [],
      operator: null,
      composed: () => composed(),
      hasImage: true,
      health: health(),
      origins: [],
      hasEnded: false,
      lastWords: null,
      proxies: [],
      drift: drift(),
      changes: { changes: [], unseen: [] },
      commands,
      settingsFiles: ['/etc/testops/testops.env'],
    },
    [
      'status',
      'environment',
      'image',
      'machines',
      'resolve',
      'controllers',
      'startObstacles',
      'startLimit',
      'definitions',
      'lacks',
      'operator',
      'composed',
      'hasImage',
      'health',
      'origins',
      'hasEnded',
      'lastWords',
      'drift',
      'proxies',
      'changes',
    ],
    answers,
  )
}

export function running(of: Partial<ServiceStatus> = {}): ServiceStatus {
  return {
    state: 'running',
    detail: 'active (running)',
    instances: [{ name: 'testops.service', host: 'testops-1', pid: 812, startedAt: ago(7_200_000) }],
    ...of,
  }
}

/** Nothing differs, unless told otherwise. */
export function drift(settings: readonly DriftingSetting[] = []): SettingsDrift {
  return { declaredIn: '/etc/testops/testops.env', shown: "sudo tr '\\0' '\\n' < /proc/812/environ", settings }
}

/** One running process without a readiness check, unless told otherwise. */
export function health(of: Partial<ServiceHealth> = {}): ServiceHealth {
  return { wanted: null, instances: [instanceHealth()], said: [], ...of }
}

export function instanceHealth(of: Partial<InstanceHealth> = {}): InstanceHealth {
  return {
    name: 'testops.service',
    isUp: true,
    isReady: null,
    startedAt: ago(7_200_000),
    waits: null,
    ended: null,
    restarts: 0,
    ...of,
  }
}

export function stopped(of: Partial<ServiceStatus> = {}): ServiceStatus {
  return { state: 'stopped', detail: 'inactive (dead)', instances: [], ...of }
}

/**
 * The service's settings: durable queues, and the address of `fakeDatabase`, unless told otherwise; undefined removes a
 * setting.
 */
export function settings(
  of: Readonly<Record<string, string | Secret | undefined>> = {},
): ReadonlyMap<string, string | Secret> {
  const all: Record<string, string | Secret | undefined> = {
    VENDOR_RABBIT_DURABLE: 'true',
    TZ: 'UTC',
    SPRING_DATASOURCE_URL: 'jdbc:postgresql://db.example.org:5432/testops',
    ...of,
  }
  return new Map(Object.entries(all).filter((entry): entry is [string, string | Secret] => entry[1] !== undefined))
}

export function image(of: Partial<ServiceImage> = {}): ServiceImage {
  return { name: 'testops', tag: '527u01', build: '527u01', declaredIn: 'testops-admin.yaml', ...of }
}

/** The image of a compose project whose service runs the standard image, unless told otherwise. */
export function composed(of: Partial<ComposedImage> = {}): ComposedImage {
  return { now: 'r/testops:527u01', then: 'r/testops-legacy:527u01', platform: null, isBuilt: false, others: [], ...of }
}

export function machine(of: Partial<Machine> = {}): Machine {
  return { name: 'testops-1', architecture: 'x86_64', processors: [v3Flags], hypervisor: null, ...of }
}
