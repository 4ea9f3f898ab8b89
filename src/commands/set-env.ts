import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { applyFlags, chartIfNamed, chartOf, filesOfDeployment } from '../cli/repair/applied.ts'
import { givenVendor, vendorFlags, vendorOfDeployment } from '../cli/repair/vendor.ts'
import { keyPath, namedFiles } from '../cli/repair/files.ts'
import { repairFlags } from '../cli/repair/flags.ts'
import { runRepair } from '../cli/repair/run-repair.ts'
import { settingWishes } from '../cli/repair/settings.ts'
import { showPerformed } from '../cli/repair/show.ts'
import { AdminError } from '../core/error.ts'
import { chartKeys } from '../knowledge/chart.ts'
import { repairs } from '../repairs/index.ts'

export default class SetEnv extends BaseCommand {
  static override summary = "Set or remove the service's settings and restart it"
  static override description =
    'NAME=VALUE sets a setting, NAME- removes it. Several settings need only one restart. `undo` restores the former ' +
    'values.\n\n' +
    'Pass a secret as NAME=@FILE, or NAME=@- for standard input. It never gets into a plan, a journal or an error.\n\n' +
    "--values writes to Helm values instead (`env.open`, or the chart's own key), without a deployment; confirm with " +
    "the file's base name. With --apply, helm then upgrades the release; confirm with the deployment's name.\n\n" +
    'Exit 0 if done or already set, 4 if refused or not confirmed, 6 if unfinished.'
  static override usage = 'set-env NAME=VALUE... | NAME-... [flags]'
  static override examples = [
    {
      description: 'two settings in one restart',
      command: '<%= config.bin %> set-env -d prod VENDOR_ENDPOINT=https://testops.example.org TZ-',
    },
    { description: 'a secret', command: '<%= config.bin %> set-env -d prod SPRING_RABBITMQ_PASSWORD=@/run/secrets/mq' },
    {
      description: 'in the values of the chart',
      command: '<%= config.bin %> set-env --values values.yaml --token-lifetime 3600',
    },
    {
      description: 'in the cluster, too',
      command:
        '<%= config.bin %> set-env -d prod --values values.yaml --apply --chart testops/testops VENDOR_ENDPOINT=https://testops.example.org',
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
      summary: 'Edit Helm values instead; of several files, the last one with the setting',
      helpValue: 'FILE',
      multiple: true,
      multipleNonGreedy: true,
    }),
    path: Flags.string({
      summary: "Find the chart's values below this key of an umbrella chart",
      helpValue: 'KEY.PATH',
      dependsOn: ['values'],
    }),
    ...applyFlags,
    ...vendorFlags,
    'no-restart': Flags.boolean({ summary: 'Write only; takes effect at the next start' }),
  }

  override async run(): Promise<void> {
    const { flags, argv, raw } = await this.parse(SetEnv)
    const { given: secrets, ...wishes } = await settingWishes(argv as string[], flags)
    const asked = { given: secrets, words: process.argv.slice(2), version: this.config.version }
    const named = flags.apply ? await filesOfDeployment(flags) : { values: flags.values, path: flags.path }
    if (!named.values && 'compose' in named)
      throw new AdminError('USAGE', 'under compose a setting takes effect at once, without --apply', [
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
      return showPerformed(
        await runRepair({ ...flags, selected }, { repair: repairs['set-env-values'], options, ...asked }),
        flags,
      )
    }
    if (files) {
      // a deployment from the environment is ignored: a file needs none
      const named = raw.some((token) => token.type === 'flag' && token.flag === 'deployment')
        ? await vendorOfDeployment(flags)
        : null
      const options = {
        settings: wishes.settings,
        values: files.paths,
        main: files.main,
        path,
        ...(await chartIfNamed(flags, named?.selected)),
        ...(given.vendor || named ? { vendor: { ...named?.vendor, ...given.vendor } } : {}),
      }
      return showPerformed(
        await runRepair({ ...flags, files }, { repair: repairs['set-env-values'], options, ...asked }),
        flags,
      )
    }
    const options = { ...wishes, restart: !(flags['no-restart'] ?? false), ...given }
    showPerformed(await runRepair(flags, { repair: repairs['set-env'], options, ...asked }), flags)
  }
}
