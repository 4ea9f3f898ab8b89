import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { applyFlags, chartIfNamed, chartOf, filesOfDeployment } from '../cli/repair/applied.ts'
import { keyPath, namedFiles } from '../cli/repair/files.ts'
import { repairFlags } from '../cli/repair/flags.ts'
import { runRepair } from '../cli/repair/run-repair.ts'
import { showPerformed } from '../cli/repair/show.ts'
import { chartKeys } from '../knowledge/chart.ts'
import { repairs } from '../repairs/index.ts'

const { relay: _relay, ...flagsOfFiles } = repairFlags

export default class UseLegacyImage extends BaseCommand {
  static override summary = 'Switch to the image for CPUs without x86-64-v3'
  static override description =
    "Changes `image.imageName` in Helm values to testops-legacy (--revert: to testops), or the image's name in a " +
    "compose file. Nothing else in the file changes. The command first shows the lines it will change. Confirm with the file's name, without its folder.\n\n" +
    'It needs no configuration and no deployment. With -d alone, the file is the one in the configuration. `history`, ' +
    '`resume` and `undo` take the same --values or --compose.\n\n' +
    '--apply also upgrades the Helm release or recreates the container, and waits for the service. Confirm with the ' +
    "deployment's name.\n\n" +
    'Exit 0 if done or if there is nothing to do, 4 if refused, such as a build before 527u01, 5 if someone else is ' +
    'editing the file.'
  static override examples = [
    {
      description: 'show what would change',
      command: '<%= config.bin %> use-legacy-image --values values.yaml --dry-run',
    },
    {
      description: 'with the first build that has the image',
      command: '<%= config.bin %> use-legacy-image --values values.yaml --build 527u01 --confirm values.yaml',
    },
    {
      description: 'of a chart within another',
      command: '<%= config.bin %> use-legacy-image --values common.yaml --values prod.yaml --path testops',
    },
    {
      description: 'in the cluster, too',
      command: '<%= config.bin %> use-legacy-image -d prod --values values.yaml --apply --chart testops/testops',
    },
    { description: 'in a compose file', command: '<%= config.bin %> use-legacy-image --compose docker-compose.yml' },
  ]
  static override flags = {
    ...flagsOfFiles,
    confirm: Flags.string({
      summary: "Confirm without a question: the file's base name, or with --apply the deployment's name",
      helpValue: 'NAME',
    }),
    values: Flags.string({
      summary: 'Edit Helm values; of several files, the last one with the key',
      helpValue: 'FILE',
      multiple: true,
      multipleNonGreedy: true,
      exclusive: ['compose'],
    }),
    path: Flags.string({
      summary: "Find the chart's values below this key of an umbrella chart",
      helpValue: 'KEY.PATH',
      dependsOn: ['values'],
    }),
    compose: Flags.string({ summary: 'Edit this compose file', helpValue: 'FILE' }),
    service: Flags.string({
      summary: 'Choose the service, if several in the compose file have the image',
      helpValue: 'NAME',
      dependsOn: ['compose'],
    }),
    build: Flags.string({ summary: 'Set the version too', helpValue: 'BUILD' }),
    revert: Flags.boolean({ summary: 'Go back to the standard image' }),
    ...applyFlags,
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(UseLegacyImage)
    const { build = null, revert = false } = flags
    const named = flags.apply || (!flags.values && flags.compose === undefined) ? await filesOfDeployment(flags) : flags
    const path = keyPath(named.path)
    const { files } = await namedFiles(named, [...path, ...chartKeys.imageName])
    if (!files) throw new TypeError('a file is missing, and no error was raised')
    const where =
      files.flag === '--values'
        ? { values: files.paths, path }
        : { compose: files.main, service: named.service ?? null }
    const asked = { repair: repairs['use-legacy-image'], words: process.argv.slice(2), version: this.config.version }
    if (!flags.apply || !('selected' in named)) {
      const chart =
        files.flag === '--values' ? await chartIfNamed(flags, 'selected' in named ? named.selected : undefined) : {}
      return showPerformed(
        await runRepair(
          { ...flags, files },
          { ...asked, options: { ...where, main: files.main, build, revert, ...chart } },
        ),
        flags,
      )
    }
    const { selected } = named
    const apply = files.flag === '--values' ? await chartOf(flags, selected) : true
    const options = { ...where, build, revert, apply, deployment: selected.name }
    showPerformed(await runRepair({ ...flags, selected }, { ...asked, options }), flags)
  }
}
