import { traitsOf } from '../knowledge/platforms.ts'
import { settingLines } from '../domain/evidence.ts'
import { AdminError } from '../core/error.ts'
import { fingerprint } from '../core/plan.ts'
import type { Step } from '../core/plan.ts'
import { defineRepair } from '../core/repair.ts'
import { Secret } from '../core/secret.ts'
import { isSecretSetting, parseBoolean, settingDefaults } from '../knowledge/settings.ts'
import { lookAtService, settingNotes, startStep, stopStep } from './service-steps.ts'
import { assertValue, queuesWouldDiffer, typoNote, vendorFlag, vendorToWrite } from './set-env/change.ts'
import type { GivenVendor, SettingWish } from './set-env/change.ts'
import { command } from '../core/shell-command.ts'

export interface SetEnvOptions {
  settings: readonly SettingWish[]
  /** False: the settings take effect at the next start */
  restart: boolean
  /** Salt of the fingerprints of secrets */
  salt: string
  /** From --vendor-prefix and --vendor-package */
  vendor?: GivenVendor
}

/** Sets or removes settings where the service reads them, all in one restart. */
export const setEnv = defineRepair({
  id: 'set-env',
  title: "set or remove the service's settings",
  reads: ['service'],
  wants: ['database', 'broker', 'logs', 'api'],
  async plan(sources, deployment, { settings, restart, salt, vendor: given }: SetEnvOptions) {
    const { service } = sources
    const [environment, seen] = await Promise.all([service.environment(), lookAtService(sources, deployment)])
    const { names, vendor } = vendorToWrite(settings, {
      given,
      deployment,
      names: environment.keys(),
      lookedIn: "the service's settings",
      next: (part) => [vendorFlag[part], service.commands.settings],
    })
    const wishes = settings.map((wish) => ({ ...wish, name: 'name' in wish ? wish.name : names[wish.known] }))
    const twice = wishes.find(({ name }, index) => wishes.findIndex((it) => it.name === name) !== index)
    if (twice) throw new AdminError('USAGE', `${twice.name} appears twice. Each setting may appear only once`)
    const changes = wishes.flatMap(({ name, to, secret }): Step[] => {
      assertValue(name, to, names)
      const value = environment.get(name)
      const current = value instanceof Secret ? value.reveal() : (value ?? null)
      if (secret || value instanceof Secret || isSecretSetting(name, '')) {
        if (to !== null) throw traitsOf(deployment).keepsSecretsElsewhere ? inTemplate(name) : heldSecret(name)
        const [from, next] = [fingerprint(current, salt), secret?.fingerprint ?? null]
        return from === next
          ? []
          : [
              {
                title: next === null ? `remove ${name}` : `set ${name}, a secret`,
                action: { kind: 'set-secret', name, salt, from, to: next, file: secret?.file ?? null },
                interrupts: false,
              },
            ]
      }
      return current === to
        ? []
        : [
            {
              title: to === null ? `remove ${name}` : `set ${name}=${to}`,
              action: { kind: 'set-setting', name, from: current, to },
              interrupts: false,
            },
          ]
    })
    const runs = seen.status.state === 'running' || seen.status.startsAgain === true
    const restarts = restart && runs && changes.length > 0
    if (traitsOf(deployment).rollsOut) assertForCluster(changes, { rollsOut: !restart && runs })
    const durable = changes
      .flatMap(({ action }) => (action.kind === 'set-setting' && action.name === names.rabbitDurable ? [action] : []))
      .at(0)
    const queues = durable
      ? await queuesWouldDiffer(
          sources,
          deployment,
          (durable.to === null ? null : parseBoolean(durable.to)) ?? settingDefaults.rabbitDurable,
        )
      : {}
    const start: Step = { ...startStep(), action: { kind: 'start-service', stopsOnUndo: true } }
    const isSet = (name: string): boolean =>
      changes.some(({ action }) => action.kind === 'set-setting' && action.name === name)
    return {
      target: { service: seen.target },
      impact: changes.length === 0 ? {} : { settingsChanged: changes.length, ...(restarts && { serviceRestarts: 1 }) },
      evidence: wishes.flatMap(({ name }) => settingLines(service, name, shown(name, environment.get(name)))),
      notes: [
        ...wishes.flatMap(({ name, to, secret }) =>
          to === null && !secret ? [] : (typoNote(name, vendor, environment.keys()) ?? []),
        ),
        ...(queues.note === undefined ? [] : [queues.note]),
        ...changes.flatMap(({ action }) => (action.kind === 'set-setting' ? settingNotes(deployment, action) : [])),
        ...(changes.some(({ action }) => action.kind === 'set-secret' && action.from !== null)
          ? [
              '`undo` can restore the former value of a secret. This value is kept beside the record of the run, ' +
                'in a file that only this user can read',
            ]
          : []),
        ...(changes.length === 0
          ? [
              'all settings already have the requested values. If the service has not restarted since they ' +
                'were set, it may still use older values',
            ]
          : restarts
            ? seen.notes
            : [
                runs
                  ? 'the service is not restarted: the change takes effect at the next start'
                  : 'the service stays stopped: the change takes effect at the next start',
              ]),
      ],
      risks: [...(restarts ? seen.risks : []), ...(queues.risk ? [queues.risk] : [])],
      steps: restarts ? [stopStep(seen.status), ...changes, start] : changes,
      verifiedBy: restarts
        ? ['service/running', 'api/reachable', ...(isSet(names.tokenValiditySeconds) ? ['api/token-lifetime'] : [])]
        : [],
    }
  },
})

/**
 * Throws REFUSED for a secret, since everyone who may read Deployments reads the pod template. Throws USAGE for a
 * change without a restart, since a changed template takes effect at once.
 */
function assertForCluster(changes: readonly Step[], { rollsOut }: { rollsOut: boolean }): void {
  const secret = changes.flatMap(({ action }) => (action.kind === 'set-secret' ? [action.name] : [])).at(0)
  if (secret !== undefined) throw inTemplate(secret)
  if (rollsOut && changes.length > 0) {
    throw new AdminError(
      'USAGE',
      'on Kubernetes, a changed setting starts new pods at once, so `--no-restart` works only while the service is ' +
        'stopped',
      [
        'testops-admin set-env NAME=VALUE --values FILE   # writes the setting to a values file of the chart, ' +
          'for the next helm upgrade',
        'testops-admin service stop -d {deployment}',
      ],
    )
  }
}

function inTemplate(name: string): AdminError {
  return new AdminError('REFUSED', `${name} is a secret and does not belong in a pod template. Nothing was changed`, [
    'set the new value in the Secret of the release, then: testops-admin service restart -d {deployment}',
  ])
}

function shown(name: string, value: string | Secret | undefined): string {
  if (value === undefined) return `${name} is not set`
  return value instanceof Secret ? `${name} is set (a secret)` : `${name}=${value}`
}

function heldSecret(name: string): AdminError {
  return new AdminError('USAGE', `${name} is a secret. Pass its new value in a file`, [
    command`testops-admin set-env ${name}=@FILE -d {deployment}`,
  ])
}
