import { Flags } from '@oclif/core'
import { isTyped } from '../cli/base-command.ts'
import { applyFlags, chartIfNamed, chartOf, filesOfDeployment } from '../cli/repair/applied.ts'
import { givenVendor, settingWishes, vendorFlags, vendorOfDeployment } from '../cli/repair/settings.ts'
import { keyPath, namedFiles, repairFlags } from '../cli/repair/flags.ts'
import { RepairCommand } from '../cli/repair/repair-command.ts'
import type { Repaired } from '../cli/repair/repair-command.ts'
import { AdminError } from '../core/error.ts'
import { chartKeys } from '../knowledge/chart.ts'
import { repairs } from '../repairs/index.ts'

export default class SetEnv extends RepairCommand {
  static override summary = 'Set or remove settings of the service and restart it'
  static override description =
    'NAME=VALUE sets a setting, NAME- removes it. Several settings need only one restart. `undo` restores the old ' +
    'values.\n\n' +
    'Pass a secret as NAME=@FILE, or NAME=@- for standard input. The secret never appears in a plan, in the saved ' +
    'record of a run or in an error message.\n\n' +
    "--values edits a Helm values file instead, at `env.open` or at the chart's own key for the setting. This " +
    "needs no deployment. To confirm, give the file's base name or, with --apply, the deployment's name. " +
    '--apply also upgrades the Helm release.\n\n' +
    'Exit 0 if done or already set, 4 if refused or not confirmed, 6 if unfinished.'
  static override usage = 'set-env NAME=VALUE... | NAME-... [flags]'
  static override examples = [
    {
      description: 'Change two settings with one restart',
      command: '<%= config.bin %> set-env -d prod VENDOR_ENDPOINT=https://testops.example.org TZ-',
    },
    {
      description: 'Set a secret',
      command: '<%= config.bin %> set-env -d prod SPRING_RABBITMQ_PASSWORD=@/run/secrets/mq',
    },
    {
      description: "Edit the chart's values",
      command: '<%= config.bin %> set-env --values values.yaml --token-lifetime 3600',
    },
    {
      description: "Edit the chart's values and upgrade the release",
      command:
        '<%= config.bin %> set-env -d prod --values values.yaml --apply --chart testops/testops ' +
        'VENDOR_ENDPOINT=https://testops.example.org',
    },
    {
      description: 'Log what integrations send',
      command: '<%= config.bin %> set-env -d prod --integration-debug on',
    },
  ]
  static override strict = false
  static override flags = {
    ...repairFlags,
    'durable-queues': Flags.string({
      summary: 'Have the service declare durable queues; `reset-queues` converts existing ones',
      options: ['true', 'false'],
    }),
    'token-lifetime': Flags.integer({
      summary: 'Set the lifetime of Bearer tokens',
      helpValue: 'SECONDS',
      min: 1,
      max: 999_999_999,
    }),
    'integration-debug': Flags.string({
      summary: 'Log debug output of integrations; `off` removes the setting',
      options: ['on', 'off'],
    }),
    values: Flags.string({
      summary: 'Edit this Helm values file instead. If you name several, the last one that has the setting is edited',
      helpValue: 'FILE',
      multiple: true,
      multipleNonGreedy: true,
    }),
    path: Flags.string({
      summary: "In the values of an umbrella chart, look for this chart's values under KEY.PATH",
      helpValue: 'KEY.PATH',
      dependsOn: ['values'],
    }),
    ...applyFlags,
    ...vendorFlags,
    'no-restart': Flags.boolean({
      summary: 'Write the settings without a restart; they take effect at the next start of the service',
    }),
  }

  override async repair(): Promise<Repaired> {
    const { flags, argv, raw } = await this.parse(SetEnv)
    const { given: secrets, ...wishes } = await settingWishes(argv as string[], flags)
    const asked = { given: secrets, words: this.words, version: this.config.version }
    const named = flags.apply ? await filesOfDeployment(flags) : { values: flags.values, path: flags.path }
    if (!named.values && 'compose' in named)
      throw new AdminError('USAGE', 'leave out --apply: with docker compose, set-env applies a setting at once', [
        'testops-admin set-env NAME=VALUE -d NAME',
      ])
    const path = keyPath(named.path)
    const { files } = await namedFiles({ values: named.values }, [...path, ...chartKeys.openSettings])
    const given = givenVendor(flags)
    if (files && 'selected' in named) {
      const { selected } = named
      const options = {
        settings: wishes.settings,
        values: files.paths,
        path,
        apply: await chartOf(flags, selected),
        ...given,
      }
      return {
        result: await this.perform({ ...flags, selected }, { repair: repairs['set-env-values'], options, ...asked }),
        flags,
      }
    }
    if (files) {
      // a deployment from the environment is ignored: a file needs none
      const named = isTyped(raw, 'deployment') ? await vendorOfDeployment(flags) : null
      const options = {
        settings: wishes.settings,
        values: files.paths,
        main: files.main,
        path,
        ...(await chartIfNamed(flags, named?.selected)),
        ...(given.vendor || named ? { vendor: { ...named?.vendor, ...given.vendor } } : {}),
      }
      return {
        result: await this.perform({ ...flags, files }, { repair: repairs['set-env-values'], options, ...asked }),
        flags,
      }
    }
    const options = { ...wishes, restart: !(flags['no-restart'] ?? false), ...given }
    return { result: await this.perform(flags, { repair: repairs['set-env'], options, ...asked }), flags }
  }
}
