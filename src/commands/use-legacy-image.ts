import { Flags } from '@oclif/core'
import { applyFlags, chartIfNamed, chartOf, filesOfDeployment } from '../cli/repair/applied.ts'
import { keyPath, namedFiles, repairFlags } from '../cli/repair/flags.ts'
import { RepairCommand } from '../cli/repair/repair-command.ts'
import type { Repaired } from '../cli/repair/repair-command.ts'
import { chartKeys } from '../knowledge/chart.ts'
import { repairs } from '../repairs/index.ts'

const { relay: _relay, ...flagsOfFiles } = repairFlags

export default class UseLegacyImage extends RepairCommand {
  static override summary = 'Switch to the image for CPUs without x86-64-v3'
  static override description =
    'Changes `image.imageName` in Helm values, or the image in a compose file, to testops-legacy. With --revert, ' +
    'changes the name back to testops. Shows the lines that change, and changes nothing else. To confirm, give the ' +
    "file's base name or, with --apply, the deployment's name.\n\n" +
    'This command needs no configuration and no deployment. With -d alone, it edits the file that the configuration ' +
    'names. Pass the same --values or --compose to `history`, `resume` and `undo`.\n\n' +
    '--apply also upgrades the Helm release or recreates the container, and waits for the service.\n\n' +
    'Exit 0 if done or if there is nothing to do, 4 if refused (for example, for a build before 527u01), 5 if ' +
    'someone else is editing the file.'
  static override examples = [
    {
      description: 'Show the plan',
      command: '<%= config.bin %> use-legacy-image --values values.yaml --dry-run',
    },
    {
      description: 'Also set the version to 527u01, the first build with this image',
      command: '<%= config.bin %> use-legacy-image --values values.yaml --build 527u01 --confirm values.yaml',
    },
    {
      description: 'Edit the values of a subchart',
      command: '<%= config.bin %> use-legacy-image --values common.yaml --values prod.yaml --path testops',
    },
    {
      description: 'Edit the values and upgrade the release',
      command: '<%= config.bin %> use-legacy-image -d prod --values values.yaml --apply --chart testops/testops',
    },
    { description: 'Edit a compose file', command: '<%= config.bin %> use-legacy-image --compose docker-compose.yml' },
  ]
  static override flags = {
    ...flagsOfFiles,
    confirm: Flags.string({
      summary:
        "Confirm in advance, without a prompt: NAME is the file's base name or, with --apply, the deployment's name",
      helpValue: 'NAME',
    }),
    values: Flags.string({
      summary: 'Edit this Helm values file. If you name several, the last one that sets the image is edited',
      helpValue: 'FILE',
      multiple: true,
      multipleNonGreedy: true,
      exclusive: ['compose'],
    }),
    path: Flags.string({
      summary: "In the values of an umbrella chart, look for this chart's values under KEY.PATH",
      helpValue: 'KEY.PATH',
      dependsOn: ['values'],
    }),
    compose: Flags.string({ summary: 'Edit this compose file', helpValue: 'FILE' }),
    service: Flags.string({
      summary: 'Choose this service if several services in the compose file use the image',
      helpValue: 'NAME',
      dependsOn: ['compose'],
    }),
    build: Flags.string({ summary: 'Also set the version to BUILD', helpValue: 'BUILD' }),
    revert: Flags.boolean({ summary: 'Go back to the standard image' }),
    ...applyFlags,
  }

  override async repair(): Promise<Repaired> {
    const { flags } = await this.parse(UseLegacyImage)
    const { build = null, revert = false } = flags
    const named = flags.apply || (!flags.values && flags.compose === undefined) ? await filesOfDeployment(flags) : flags
    const path = keyPath(named.path)
    const { files } = await namedFiles(named, [...path, ...chartKeys.imageName])
    if (!files) throw new TypeError('found no values file or compose file to edit')
    const where =
      files.flag === '--values'
        ? { values: files.paths, path }
        : { compose: files.main, service: named.service ?? null }
    const asked = { repair: repairs['use-legacy-image'], words: this.words, version: this.config.version }
    if (!flags.apply || !('selected' in named)) {
      const chart =
        files.flag === '--values' ? await chartIfNamed(flags, 'selected' in named ? named.selected : undefined) : {}
      return {
        result: await this.perform(
          { ...flags, files },
          { ...asked, options: { ...where, main: files.main, build, revert, ...chart } },
        ),
        flags,
      }
    }
    const { selected } = named
    const apply = files.flag === '--values' ? await chartOf(flags, selected) : true
    const options = { ...where, build, revert, apply, deployment: selected.name }
    return { result: await this.perform({ ...flags, selected }, { ...asked, options }), flags }
  }
}
