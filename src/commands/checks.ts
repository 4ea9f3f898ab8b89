import { checkTexts } from '../../explain/index.yaml'
import { BaseCommand } from '../cli/base-command.ts'
import { noteIgnored } from '../cli/write.ts'
import { checks } from '../checks/index.ts'
import { checksText } from '../output/explain.ts'
import type { ChecksDocument } from '../output/explain.ts'

export default class Checks extends BaseCommand {
  static override summary = 'List the checks of `doctor`'
  static override description =
    'For each check, shows its id, the healthy state, how severe a problem is, and the sources that it reads.'
  static override examples = ['<%= config.bin %> checks', '<%= config.bin %> checks --json']

  override async run(): Promise<void> {
    const { flags } = await this.parse(Checks)
    await noteIgnored(flags)
    const severities = new Map(checkTexts.map((entry) => [entry.id, entry.severities]))
    const document: ChecksDocument = {
      schemaVersion: 1,
      checks: checks.map(({ id, title, reads, wants = [], explains = [] }) => ({
        id,
        title,
        severities: severities.get(id) ?? [],
        reads,
        wants,
        explains,
      })),
    }
    this.show(flags, document, (document, screen) => checksText(document, screen))
  }
}
