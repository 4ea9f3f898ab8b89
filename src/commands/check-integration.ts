import { Flags } from '@oclif/core'
import { BaseCommand, quietFlag } from '../cli/base-command.ts'
import { checkIntegrations, plainHttp } from '../cli/integration/index.ts'
import { integrationExitCode, integrationText } from '../output/integration.ts'

const reference = { helpValue: 'env:NAME|@FILE|@-' }

export default class CheckIntegration extends BaseCommand {
  static override summary = 'Find out why an integration cannot connect'
  static override description =
    'Looks up the host name, on this machine and where the service runs. Connects, checks the certificate, and sends ' +
    'one request without credentials. Finds spaces and other invisible characters at the start or end of the user ' +
    'name, password and token.\n\n' +
    "Without --url, it checks the external systems in the configuration and in the service's log.\n\n" +
    'It signs in only with --sign-in, because external systems may lock an account after failed attempts. For a ' +
    'password or token, say where it is kept: env:NAME, @FILE, or @- for standard input.\n\n' +
    'Exit 0 if the integration can connect, 1 if something stops it, 2 if something soon will, 3 if that is ' +
    'unknown.'
  static override examples = [
    '<%= config.bin %> check-integration -d prod',
    {
      description: 'Check the credentials for stray spaces, without signing in',
      command:
        '<%= config.bin %> check-integration --url https://tracker.example.org/rest/api/2/myself --user bob ' +
        '--password-from @/run/secrets/tracker',
    },
    {
      description: 'Sign in once',
      command: '<%= config.bin %> check-integration -d prod --integration tracker --sign-in',
    },
    {
      description: 'Read a token from standard input',
      command:
        'pass show tracker | <%= config.bin %> check-integration --url https://tracker.example.org/api/v4/user ' +
        '--token-from @- --sign-in',
    },
  ]
  static override flags = {
    url: Flags.string({
      summary: 'Check the external system at this full URL, including the path',
      helpValue: 'URL',
      exclusive: ['integration'],
    }),
    integration: Flags.string({
      summary: 'Check only this entry of `integrations` in the configuration',
      helpValue: 'NAME',
    }),
    user: Flags.string({
      summary: 'Use this user name, exactly as in the integration',
      helpValue: 'NAME',
      exclusive: ['user-from'],
    }),
    'user-from': Flags.string({
      ...reference,
      summary: 'Read the user name from a variable, a file or standard input',
    }),
    'password-from': Flags.string({
      ...reference,
      summary: 'Read the password from a variable, a file or standard input',
      exclusive: ['token-from'],
    }),
    'token-from': Flags.string({
      ...reference,
      summary: 'Read the Bearer token from a variable, a file or standard input',
    }),
    'sign-in': Flags.boolean({ summary: 'Sign in once, with Basic or Bearer authentication' }),
    'accept-risk': Flags.string({
      summary: `${plainHttp}: allow credentials over http://`,
      helpValue: 'RISK',
      options: [plainHttp],
      multiple: true,
      multipleNonGreedy: true,
    }),
    ca: Flags.string({ summary: "Trust these certificates instead of this machine's", helpValue: 'FILE' }),
    ...quietFlag,
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(CheckIntegration)
    const document = await checkIntegrations(flags, (message) => this.progress(message))
    this.show(flags, document, (document, screen) => integrationText(document, screen))
    process.exitCode ??= integrationExitCode(document)
  }
}
