import { checkTexts } from '../../explain/index.yaml'
import { BaseCommand } from '../cli/base-command.ts'
import { exitCodeOfUnloaded } from '../cli/failure.ts'
import { interruptible } from '../cli/interrupt.ts'
import { noteIgnored } from '../cli/write.ts'
import { checks } from '../checks/index.ts'
import type { Check } from '../core/check.ts'
import { AdminError } from '../core/error.ts'
import { reportError } from '../engine/report.ts'
import { checksText } from '../output/explain.ts'
import type { ChecksDocument } from '../output/explain.ts'

export default class Checks extends BaseCommand {
  static override summary = 'List the checks of `doctor`'
  static override description =
    'For each check, shows its id, the healthy state, how severe a problem is, and the sources that it reads. Own ' +
    'checks are those of the deployment that `doctor` would examine.\n\n' +
    'Exit 64 if the file of an own check is wrong, 3 if it could not be loaded for another reason, such as a timeout.'
  static override examples = ['<%= config.bin %> checks', '<%= config.bin %> checks --json']

  override async run(): Promise<void> {
    const { flags } = await this.parse(Checks)
    const own = (await noteIgnored(flags)) ? [] : await this.#own(flags)
    const severities = new Map(checkTexts.map((entry) => [entry.id, entry.severities]))
    const document: ChecksDocument = {
      schemaVersion: 1,
      checks: [...checks, ...own].map(({ id, title, reads, wants = [], explains = [], file, unloaded }) => ({
        id,
        title,
        severities: severities.get(id) ?? (file === undefined ? [] : ['error', 'warning']),
        reads,
        wants,
        explains,
        ...(file !== undefined && { file }),
        ...(unloaded !== undefined && { error: reportError(unloaded) }),
      })),
    }
    this.show(flags, document, (document, screen) => checksText(document, screen))
    const codes = document.checks.flatMap(({ error }) => error?.code ?? [])
    // already set if the list could not be written
    if (codes.length > 0) process.exitCode ??= exitCodeOfUnloaded(codes)
  }

  /** Returns own checks as their files declare them. Without them, the catalogue is still listed. */
  async #own({ deployment, config: file }: Record<'deployment' | 'config', string | undefined>): Promise<Check[]> {
    const { ownChecksHere } = await import('../runtime/index.ts')
    const request = { file, environment: process.env, workingDirectory: process.cwd() }
    try {
      return await interruptible(async (signal) => {
        const own = await ownChecksHere(request, deployment, { signal })
        return Promise.all(own.map(async (check) => (await check.load?.()) ?? check))
      })
    } catch (error) {
      if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
      this.progress(`Own checks are not listed: ${error.message}`)
      return []
    }
  }
}
