import { BaseCommand } from '../cli/base-command.ts'
import { withOpened } from '../cli/with-opened.ts'
import { lifeText, tokenDocument } from '../output/token.ts'
import { jsonText } from '../cli/json.ts'
import { print } from '../cli/write.ts'

export default class Token extends BaseCommand {
  static override summary = 'Print a Bearer token for scripts'
  static override description =
    'Exchanges the API token in the configuration for a Bearer token, and prints only that on standard output. Its ' +
    'lifetime goes to standard error.\n\n' +
    'Use the API token for this exchange only: sent with many calls, it can overload the service.'
  static override examples = [
    '<%= config.bin %> token -d prod',
    {
      description: 'for curl, without showing it in the process list',
      command: `<%= config.bin %> token | sed 's/.*/header = "Authorization: Bearer &"/' | curl -K - https://testops.example.org/api/uaa/me`,
    },
  ]

  override async run(): Promise<void> {
    const { flags } = await this.parse(Token)
    const bearer = await withOpened(flags, async ({ login }) => (await login()).bearer())
    // not redacted: this is the one secret that the command is asked to print
    print(process.stdout, flags.json ? jsonText(tokenDocument(bearer)) : `${bearer.token.reveal()}\n`)
    this.progress(lifeText(bearer))
  }
}
