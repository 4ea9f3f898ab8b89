import { BaseCommand } from '../../cli/base-command.ts'
import { withOpened } from '../../cli/repair/session.ts'
import { serviceExitCode, serviceText } from '../../output/service.ts'
import type { ServiceDocument } from '../../output/service.ts'

export default class ServiceStatus extends BaseCommand {
  static override summary = 'Show whether the service is running, and since when'
  static override description =
    'Shows what Kubernetes, docker compose or the host says about the service. To see whether the service answers, ' +
    'run `doctor`.\n\n' +
    'Exit 0 if the service is running, 1 if not.'
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
