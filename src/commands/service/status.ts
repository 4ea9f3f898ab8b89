import { BaseCommand } from '../../cli/base-command.ts'
import { withOpened } from '../../cli/with-opened.ts'
import { serviceExitCode, serviceText } from '../../output/service.ts'
import type { ServiceDocument } from '../../output/service.ts'

export default class ServiceStatus extends BaseCommand {
  static override summary = 'Show whether the service runs, and since when'
  static override description =
    'Shows what the platform says. For whether the service answers, run `doctor`.\n\n' +
    'Exit 0 if the service runs, 1 if not.'
  static override examples = ['<%= config.bin %> service status -d prod', '<%= config.bin %> service status --json']

  override async run(): Promise<void> {
    const { flags } = await this.parse(ServiceStatus)
    const document = await withOpened(flags, async ({ deployment, open }): Promise<ServiceDocument> => {
      const service = await open.service()
      const [status, image] = await Promise.all([service.status(), service.image()])
      const instances = status.instances.map((it) => ({ ...it, startedAt: it.startedAt?.toISOString() ?? null }))
      return {
        schemaVersion: 1,
        deployment: deployment.name,
        platform: deployment.platform,
        ...status,
        instances,
        image,
      }
    })
    this.show(flags, document, (document, screen) => serviceText(document, screen))
    process.exitCode ??= serviceExitCode(document)
  }
}
