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
    'Rewrites `image.imageName` in the Helm values to testops-legacy (`--revert`: to testops), or the name of the image in a compose file. ' +
    'Every other byte of the file stays; what changes is shown before it is asked for, and confirmed by the base name of the file. ' +
    'It needs no configuration and no deployment; with -d alone the file is that of the configuration. `history`, `resume` and `undo` take the same --values or --compose.\n\n' +
    'With --apply the deployment gets it at once: helm upgrades the release with its own chart and these files, or the container is made anew, and the service is waited for. Confirmed by the name of the deployment, under whose name `history`, `resume` and `undo` know it.\n\n' +
    'Ends with 0 when done or when there is nothing to do, 4 where the build is before 527u01, the file cannot be edited safely, or the release was made with other values, 5 where somebody else is editing it.'
  static override examples = [
    { description: 'show what would change', command: '<%= config.bin %> use-legacy-image --values values.yaml --dry-run' },
    { description: 'with the first build that has the image', command: '<%= config.bin %> use-legacy-image --values values.yaml --build 527u01 --confirm values.yaml' },
    { description: 'of a chart within another', command: '<%= config.bin %> use-legacy-image --values common.yaml --values prod.yaml --path testops' },
    { description: 'in the cluster, too', command: '<%= config.bin %> use-legacy-image -d prod --values values.yaml --apply --chart testops/testops' },
    { description: 'in a compose file', command: '<%= config.bin %> use-legacy-image --compose docker-compose.yml' },
  ]
  static override flags = {
    ...flagsOfFiles,
    confirm: Flags.string({ summary: "Confirm without a question: the file's base name, or with --apply the deployment's name", helpValue: 'NAME' }),
    values: Flags.string({ summary: "Edit Helm values; of several files, the last one with the key", helpValue: 'FILE', multiple: true, multipleNonGreedy: true, exclusive: ['compose'] }),
    path: Flags.string({ summary: "Find the chart's values below this key of an umbrella chart", helpValue: 'KEY.PATH', dependsOn: ['values'] }),
    compose: Flags.string({ summary: 'Edit this compose file', helpValue: 'FILE' }),
    service: Flags.string({ summary: 'Choose the service, if several in the compose file have the image', helpValue: 'NAME', dependsOn: ['compose'] }),
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
    if (!files) throw new TypeError('there is no file, and nobody has said so')
    const where = files.flag === '--values' ? { values: files.paths, path } : { compose: files.main, service: named.service ?? null }
    const asked = { repair: repairs['use-legacy-image'], words: process.argv.slice(2), version: this.config.version }
    if (!flags.apply || !('selected' in named)) {
      const chart = files.flag === '--values' ? await chartIfNamed(flags, 'selected' in named ? named.selected : undefined) : {}
      return showPerformed(await runRepair({ ...flags, files }, { ...asked, options: { ...where, main: files.main, build, revert, ...chart } }), flags)
    }
    const { selected } = named
    const apply = files.flag === '--values' ? await chartOf(flags, selected) : true
    const options = { ...where, build, revert, apply, deployment: selected.name }
    showPerformed(await runRepair({ ...flags, selected }, { ...asked, options }), flags)
  }
}
