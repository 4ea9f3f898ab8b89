import { BaseCommand } from '../cli/base-command.ts'
import { withOpened } from '../cli/repair/session.ts'
import { lifeText, tokenDocument } from '../output/login.ts'
import { jsonText, print } from '../cli/write.ts'

export default class Token extends BaseCommand {
  static override summary = 'Print a Bearer token for scripts'
  static override description =
    'Exchanges the API token in the configuration for a Bearer token, and prints only the Bearer token on standard ' +
    'output. Prints the lifetime of the Bearer token on standard error.\n\n' +
    'Use the API token only for this exchange. Scripts that send the API token with many calls can overload the ' +
    'service.'
  static override examples = [
    '<%= config.bin %> token -d prod',
    {
      description: 'Pass the token to curl without showing it in the process list',
      command:
        `<%= config.bin %> token | sed 's/.*/header = "Authorization: Bearer &"/' | curl -K - ` +
        'https://testops.example.org/api/uaa/me',
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
