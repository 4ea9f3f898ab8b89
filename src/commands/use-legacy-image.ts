import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { keyPath, namedFiles } from '../cli/repair/files.ts'
import { repairFlags } from '../cli/repair/flags.ts'
import { runRepair } from '../cli/repair/run-repair.ts'
import { showPerformed } from '../cli/repair/show.ts'
import { AdminError } from '../core/error.ts'
import { chartKeys } from '../knowledge/chart.ts'
import { repairs } from '../repairs/index.ts'

const { patience: _patience, relay: _relay, ...flagsOfFiles } = repairFlags

export default class UseLegacyImage extends BaseCommand {
  static override summary = 'use the image for processors without x86-64-v3, in a values or compose file'
  static override description =
    'Rewrites `image.imageName` in the Helm values to testops-legacy (`--revert`: to testops), or the name of the image in a compose file. ' +
    'Every other byte of the file stays; what changes is shown before it is asked for, and confirmed by the base name of the file. ' +
    'It needs no configuration and no deployment. `history`, `resume` and `undo` take the same --values or --compose.\n\n' +
    'Ends with 0 when done or when there is nothing to do, 4 where the build is before 527u01 or the file cannot be edited safely, 5 where somebody else is editing it.'
  static override examples = [
    { description: 'show what would change', command: '<%= config.bin %> use-legacy-image --values values.yaml --dry-run' },
    { description: 'with the first build that has the image', command: '<%= config.bin %> use-legacy-image --values values.yaml --build 527u01 --confirm values.yaml' },
    { description: 'of a chart within another', command: '<%= config.bin %> use-legacy-image --values common.yaml --values prod.yaml --path testops' },
    { description: 'in a compose file', command: '<%= config.bin %> use-legacy-image --compose docker-compose.yml' },
  ]
  static override flags = {
    ...flagsOfFiles,
    confirm: Flags.string({ summary: 'the base name of the file, which confirms the plan without a question', helpValue: 'NAME' }),
    values: Flags.string({ summary: "values file, in Helm's order: the last that has the key is edited", helpValue: 'FILE', multiple: true, multipleNonGreedy: true, exclusive: ['compose'] }),
    path: Flags.string({ summary: "the chart's key in an umbrella chart", helpValue: 'KEY.PATH', dependsOn: ['values'] }),
    compose: Flags.string({ summary: 'compose file', helpValue: 'FILE' }),
    service: Flags.string({ summary: 'the service in the compose file, where several have the image', helpValue: 'NAME', dependsOn: ['compose'] }),
    build: Flags.string({ summary: 'set the version too', helpValue: 'BUILD' }),
    revert: Flags.boolean({ summary: 'go back to the standard image' }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(UseLegacyImage)
    const path = keyPath(flags.path)
    const { files } = await namedFiles(flags, [...path, ...chartKeys.imageName])
    if (!files) {
      throw new AdminError('USAGE', 'which file is to be edited is not said', ['--values values.yaml   # the Helm values', '--compose docker-compose.yml'])
    }
    const { build = null, revert = false, service = null } = flags
    const where = files.flag === '--values' ? { values: files.paths, path } : { compose: files.main, service }
    const wish = { repair: repairs['use-legacy-image'], options: { ...where, main: files.main, build, revert }, words: process.argv.slice(2), version: this.config.version }
    showPerformed(await runRepair({ ...flags, files }, wish), flags)
  }
}
