import { BaseCommand } from '../cli/base-command.ts'
import { namedFiles, oneFileFlags } from '../cli/repair/flags.ts'
import { listRuns } from '../cli/repair/list-runs.ts'
import { historyText } from '../output/history.ts'

export default class History extends BaseCommand {
  static override summary = 'List the repairs of a deployment'
  static override description =
    'Lists repairs that were started on this machine, and unfinished repairs from other machines.'
  static override examples = ['<%= config.bin %> history -d prod']

  static override flags = oneFileFlags

  override async run(): Promise<void> {
    const { flags } = await this.parse(History)
    const { files } = await namedFiles(flags)
    const document = await listRuns({ ...flags, ...(files && { files }) })
    const file = files && { flag: files.flag, path: files.main }
    this.show(flags, document, (document, screen) => historyText(document, screen, flags.config, file))
  }
}
