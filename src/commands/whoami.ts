import { BaseCommand } from '../cli/base-command.ts'
import { withOpened } from '../cli/repair/session.ts'
import { whoamiText } from '../output/login.ts'
import type { WhoamiDocument } from '../output/login.ts'

export default class Whoami extends BaseCommand {
  static override summary = "Show whose API token this is, with that user's roles"
  static override description = 'Shows what the service says about the user. Works with every version of the service.'
  static override examples = ['<%= config.bin %> whoami -d prod', '<%= config.bin %> whoami --json']

  override async run(): Promise<void> {
    const { flags } = await this.parse(Whoami)
    const document = await withOpened(flags, async ({ open }): Promise<WhoamiDocument> => {
      const api = await open.api()
      return { schemaVersion: 1, url: api.target, user: await api.currentUser() }
    })
    this.show(flags, document, (document, screen) => whoamiText(document, screen))
  }
}
