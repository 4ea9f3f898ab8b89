import { serviceClocks } from '../../../src/checks/service/clocks.ts'
import { serviceCpuLevel } from '../../../src/checks/service/cpu-level.ts'
import { serviceImage } from '../../../src/checks/service/image.ts'
import { serviceRunning } from '../../../src/checks/service/running.ts'
import { AdminError } from '../../../src/core/error.ts'
import {
  commands,
  clockAhead,
  fakeApi,
  fakeDatabase,
  fakeLogs,
  fakeService,
  fakeSessions,
  image,
  machine,
  record,
  stopped,
  unreachable,
  v3Flags,
} from '../../fakes/index.ts'
import type { CheckTable, Parts } from '../table.ts'

export const serviceRunningTable: CheckTable = {
  check: serviceRunning,
  cases: [
    { situation: 'the service runs', status: 'ok', says: ['testops.service since'] },
    {
      situation: 'the service is stopped',
      sources: { service: fakeService({ status: stopped() }) },
      status: 'problem',
      severity: 'error',
      says: [
        'the service is stopped: inactive (dead)',
        'systemctl status testops',
        'testops-admin service start -d prod',
      ],
    },
    {
      situation: 'the service has failed',
      sources: { service: fakeService({ status: stopped({ state: 'failed', detail: 'failed (Result: exit-code)' }) }) },
      status: 'problem',
      severity: 'error',
      says: ['the service has failed: failed (Result: exit-code)'],
    },
    {
      situation: 'pods that no controller owns have failed',
      sources: {
        service: fakeService({
          status: stopped({
            state: 'failed',
            detail: 'scaled to 0; 0 of 1 pods of no controller ready',
            ownedByOthers: [
              { name: 'no controller', instances: ['testops-1'], proof: ['kubectl get pod testops-1 -o yaml'] },
            ],
          }),
        }),
      },
      status: 'problem',
      severity: 'error',
      says: [
        'start it through the owner of its pods: no controller',
        'systemctl status testops',
        'kubectl get pod testops-1 -o yaml',
      ],
      silentOn: ['testops-admin service start', commands.start],
    },
    {
      situation: 'the platform has more to show',
      sources: {
        service: fakeService({
          status: stopped({
            state: 'failed',
            detail: '0 of 2 replicas ready',
            evidence: ['kubectl describe pod one', 'BackOff: restarting'],
          }),
        }),
      },
      status: 'problem',
      severity: 'error',
      says: ['kubectl describe pod one', 'BackOff: restarting'],
    },
    {
      situation: 'the platform cannot be asked',
      sources: { service: unreachable('service') },
      status: 'problem',
      severity: 'error',
      says: ['systemctl is not installed', 'The state of the service could not be read'],
      silentOn: ['start testops'],
    },
    {
      situation: 'nothing is known of how it is started',
      sources: { service: new AdminError('NOT_CONFIGURED', 'set host.unit') },
      status: 'skipped',
    },
  ],
}

const without = (...flags: string[]): string[] => v3Flags.filter((flag) => !flags.includes(flag))
const on = (of: Parameters<typeof fakeService>[0]): Parts => ({ service: fakeService(of) })
const old = machine({ processors: [without('avx2', 'bmi2'), v3Flags] })

export const serviceCpuLevelTable: CheckTable = {
  check: serviceCpuLevel,
  cases: [
    { situation: 'the machine has v3', status: 'ok', says: ['testops-1: x86-64-v3'] },
    {
      situation: 'one processor lacks two flags',
      sources: on({ machines: [old], status: stopped({ state: 'failed' }) }),
      status: 'problem',
      severity: 'error',
      says: [
        'testops-1 lacks avx2, bmi2 (it has x86-64-v2), but image testops of build 527u01 needs x86-64-v3',
        'docker pull testops-legacy:527u01',
      ],
      silentOn: ['hypervisor'],
    },
    {
      situation: 'a virtual machine lacks a flag, before the legacy image',
      sources: on({
        machines: [machine({ processors: [[...without('movbe'), 'hypervisor']] })],
        image: image({ build: '526u03', tag: '526u03' }),
      }),
      status: 'problem',
      severity: 'error',
      says: [
        'testops-1 is a virtual machine',
        'cpu: host',
        'available only in build 527u01 and later, so also upgrade',
      ],
    },
    {
      situation: 'the build is from before',
      sources: on({ machines: [old], image: image({ build: '526u02', tag: '526u02' }) }),
      status: 'ok',
      says: ['build 526u02 does not need x86-64-v3'],
    },
    {
      situation: 'the image is the legacy one',
      sources: on({ machines: [old], image: image({ name: 'testops-legacy' }) }),
      status: 'ok',
      says: ['testops-legacy does not need'],
    },
    {
      situation: 'the image is unknown',
      sources: on({ machines: [old], image: image({ name: 'fork' }) }),
      status: 'skipped',
    },
    {
      situation: 'the build is not known',
      sources: on({ machines: [old], image: image({ build: null, tag: 'latest' }) }),
      status: 'skipped',
      says: ['testops-1 lacks avx2, bmi2'],
    },
    {
      situation: 'the build is not known, and the log tells',
      sources: {
        ...on({ machines: [old], image: image({ build: null, tag: null }), status: stopped({ state: 'failed' }) }),
        logs: fakeLogs({
          recent: {
            complete: true,
            records: [record('Fatal glibc error: CPU does not support x86-64-v3', { at: null, level: null })],
          },
        }),
      },
      status: 'problem',
      severity: 'error',
      says: ['Fatal glibc error', 'grep -F x86-64-v3 /var/log/testops/testops.log | tail -1'],
    },
    {
      situation: 'one of two machines lacks it, and the service runs on the other',
      sources: on({ machines: [machine(), machine({ name: 'old', processors: [without('fma')] })] }),
      status: 'problem',
      severity: 'warning',
      says: ['old lacks fma'],
    },
    {
      situation: 'another architecture',
      sources: on({ machines: [machine({ architecture: 'aarch64', processors: [] })] }),
      status: 'skipped',
      says: ['aarch64'],
    },
    {
      situation: 'no flags are known, the service has failed, and the log tells',
      sources: {
        ...on({ machines: [machine({ architecture: null, processors: [] })], status: stopped({ state: 'failed' }) }),
        logs: fakeLogs({
          recent: {
            complete: true,
            records: [record('Fatal glibc error: CPU does not support x86-64-v3', { at: null, level: null })],
          },
        }),
      },
      status: 'problem',
      severity: 'error',
      says: [
        "the service's log reports a processor without x86-64-v3, but the processor's flags are unknown",
        'Fatal glibc error',
        'docker pull testops-legacy',
      ],
    },
    {
      situation: 'an image of another name has said it',
      sources: {
        ...on({ image: image({ name: 'qa-platform' }), status: stopped({ state: 'failed' }) }),
        logs: fakeLogs({
          recent: {
            complete: true,
            records: [record('Fatal glibc error: CPU does not support x86-64-v3', { at: null, level: null })],
          },
        }),
      },
      status: 'problem',
      severity: 'error',
      says: [
        "the service's log reports a processor without x86-64-v3 (image qa-platform)",
        'Fatal glibc error',
        'your own copy of image testops-legacy',
      ],
    },
    {
      situation: 'no flags are known, the log tells of an earlier machine, and the service runs',
      sources: {
        ...on({ machines: [machine({ architecture: null, processors: [] })] }),
        logs: fakeLogs({
          recent: {
            complete: true,
            records: [record('Fatal glibc error: CPU does not support x86-64-v3', { at: null, level: null })],
          },
        }),
      },
      status: 'unknown',
      code: 'UNAVAILABLE',
    },
    {
      situation: 'no flags are known',
      sources: on({ machines: [machine({ architecture: null, processors: [] })] }),
      status: 'unknown',
      code: 'UNAVAILABLE',
      says: ['the processor flags of testops-1 are unknown', 'grep -m1 ^flags /proc/cpuinfo   # on testops-1'],
    },
    {
      situation: 'labels of a node disprove it',
      sources: on({
        machines: [
          machine({ name: 'node-1', processors: [], told: { lacks: ['avx2', 'fma'], by: 'labels cpu-cpuid.*' } }),
        ],
      }),
      status: 'problem',
      severity: 'error',
      says: ['node-1 lacks avx2, fma (it has below x86-64-v3)', 'labels cpu-cpuid.* lack avx2, fma'],
    },
    {
      situation: 'labels of a node make it likely, which proves nothing',
      sources: on({
        machines: [machine({ name: 'node-1', processors: [], told: { lacks: [], by: 'labels cpu-cpuid.*' } })],
      }),
      status: 'unknown',
      code: 'UNAVAILABLE',
      says: [
        'the processor flags of node-1 are unknown; according to the labels cpu-cpuid.*, x86-64-v3 is likely on node-1',
      ],
    },
    {
      situation: 'the platform cannot be asked',
      sources: { service: unreachable('service') },
      status: 'unknown',
      because: 'service/running',
    },
  ],
}

export const serviceImageTable: CheckTable = {
  check: serviceImage,
  cases: [
    { situation: 'the standard image', status: 'ok', says: ['image testops, tag 527u01, build 527u01'] },
    { situation: 'a version says what the build says', sources: on({ image: image({ tag: '5.27' }) }), status: 'ok' },
    { situation: 'a tag that is no build', sources: on({ image: image({ tag: 'stable' }) }), status: 'ok' },
    {
      situation: 'the legacy image where it is needed',
      sources: on({ image: image({ name: 'testops-legacy' }), machines: [machine(), old] }),
      status: 'ok',
    },
    {
      situation: 'the legacy image, machines not known',
      sources: on({ image: image({ name: 'testops-legacy' }), machines: new AdminError('FORBIDDEN', 'no') }),
      status: 'ok',
    },
    {
      situation: 'the legacy image before there was one',
      sources: on({ image: image({ name: 'testops-legacy', tag: '526u03', build: '526u03' }), machines: [old] }),
      status: 'problem',
      severity: 'error',
      says: [
        'build 526u03 has no image testops-legacy: the first build with that image is 527u01',
        "grep -nE '(image|version|build):' testops-admin.yaml",
      ],
    },
    {
      situation: 'the legacy image where nobody needs it',
      sources: on({ image: image({ name: 'testops-legacy' }) }),
      status: 'problem',
      severity: 'warning',
      says: [
        'image testops-legacy is not needed: every machine supports x86-64-v3 (testops-1)',
        'docker pull testops:',
      ],
    },
    {
      situation: 'tag and build disagree',
      sources: on({ image: image({ tag: '526u03' }) }),
      status: 'problem',
      severity: 'warning',
      says: ['declares build 527u01, but its image has tag 526u03'],
    },
    {
      situation: 'an image of another name',
      sources: on({ image: image({ name: 'qa-platform' }) }),
      status: 'skipped',
      says: ['cannot tell from its name whether image qa-platform is testops or testops-legacy'],
    },
    {
      situation: 'an image of another name, whose tag and build disagree',
      sources: on({ image: image({ name: 'qa-platform', tag: '526u03' }) }),
      status: 'problem',
      severity: 'warning',
      says: ['declares build 527u01, but its image has tag 526u03'],
    },
    {
      situation: 'nothing is declared',
      sources: on({ image: image({ name: null, tag: null }) }),
      status: 'skipped',
      says: ['no image is declared in testops-admin.yaml'],
    },
    {
      situation: 'the platform cannot be asked',
      sources: { service: unreachable('service') },
      status: 'unknown',
      because: 'service/running',
    },
  ],
}

const hour = 3_600_000

export const serviceClocksTable: CheckTable = {
  check: serviceClocks,
  cases: [
    { situation: 'all agree', status: 'ok', says: ['4 clocks differ by at most'] },
    {
      situation: "the service's clock is ahead",
      sources: { api: fakeApi({ clock: clockAhead(2 * hour, 510) }) },
      status: 'problem',
      severity: 'error',
      says: [
        'the clock of the service at https://testops.example.org is 2 h ahead of this machine, the database at',
        'timedatectl',
        'curl -sI https://testops.example.org/api/management/health',
        'Synchronize the clock with NTP on the machine of the service at https://testops.example.org',
        'sudo timedatectl set-ntp true   # on testops.example.org',
      ],
    },
    {
      situation: "the database's clock is a little behind",
      sources: { database: [fakeDatabase({ clock: clockAhead(-20_000) })] },
      status: 'problem',
      severity: 'warning',
      says: [
        'the clock of the database at db.example.org:5432/testops is 20 s behind',
        'timedatectl   # on db.example.org',
      ],
    },
    {
      situation: "the operator's own clock is off, elsewhere than the deployment",
      sources: {
        database: [fakeDatabase({ clock: clockAhead(hour) })],
        sessions: fakeSessions({ clock: clockAhead(hour) }),
        api: fakeApi({ clock: clockAhead(hour, 510) }),
      },
      deployment: { platform: 'kubernetes' },
      status: 'problem',
      severity: 'warning',
      says: ['the clock of this machine is 1 h behind the ', 'Synchronize the clock with NTP on this machine'],
      silentOn: ['# on'],
    },
    {
      situation: 'two clocks, which disagree',
      sources: {
        database: [fakeDatabase({ clock: clockAhead(hour) })],
        sessions: unreachable('sessions'),
        api: unreachable('api'),
      },
      status: 'problem',
      severity: 'error',
      says: [
        'are 1 h apart; cannot tell which clock is wrong',
        'Find out which of these machines has the wrong clock, and synchronize it with NTP: this machine, ' +
          'the machine of the database at db.example.org',
        'timedatectl   # on db.example.org',
      ],
    },
    {
      situation: 'readings that are too rough to tell',
      sources: { api: fakeApi({ clock: clockAhead(9000, 6000) }) },
      status: 'ok',
    },
    {
      situation: 'one clock cannot be asked',
      sources: { sessions: unreachable('sessions') },
      status: 'ok',
      says: ['3 clocks'],
    },
    {
      situation: 'no other clock can be asked',
      sources: { database: unreachable('database'), sessions: unreachable('sessions'), api: unreachable('api') },
      status: 'unknown',
      because: 'database/reachable',
    },
    {
      situation: 'there is no other clock',
      sources: {
        database: new AdminError('NOT_CONFIGURED', 'none'),
        sessions: new AdminError('NOT_CONFIGURED', 'none'),
        api: new AdminError('NOT_CONFIGURED', 'none'),
      },
      status: 'skipped',
    },
  ],
}
