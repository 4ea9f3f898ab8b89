import { Flags } from '@oclif/core'
import type { GivenVendor } from '../../repairs/set-env/vendor.ts'
import type { SelectedDeployment } from '../../runtime/index.ts'
import { AdminError } from '../../core/error.ts'
import { chosenDeployment } from '../chosen-deployment.ts'
import { interruptible } from '../interrupt.ts'
import { defaultTimeoutSeconds } from '../time-out.ts'

/** How the vendor's own settings are called, where nothing else says it. */
export const vendorFlags = {
  'vendor-prefix': Flags.string({
    summary: "Use this prefix for the vendor's settings, if nothing shows it",
    helpValue: 'PREFIX',
  }),
  'vendor-package': Flags.string({
    summary: "Use this package for the vendor's loggers, if nothing shows it",
    helpValue: 'PACKAGE',
  }),
}

/** Throws USAGE where a flag is no such name. */
export function givenVendor({
  'vendor-prefix': prefix,
  'vendor-package': name,
}: {
  'vendor-prefix'?: string | undefined
  'vendor-package'?: string | undefined
}): { vendor?: GivenVendor } {
  if (prefix !== undefined && !/^[A-Z][A-Z0-9_]*$/.test(prefix))
    throw new AdminError('USAGE', `--vendor-prefix ${prefix} is invalid: use capital letters, digits and _`, [
      'testops-admin set-env --help',
    ])
  if (name !== undefined && !/^[\w.-]+$/.test(name))
    throw new AdminError('USAGE', `--vendor-package ${name} is not a package name`, ['testops-admin set-env --help'])
  return prefix === undefined && name === undefined
    ? {}
    : { vendor: { ...(prefix !== undefined && { prefix }), ...(name !== undefined && { package: name }) } }
}

/** What the configuration or the settings of the deployment say of it, and which that is. */
export async function vendorOfDeployment(flags: {
  deployment?: string | undefined
  config?: string | undefined
  timeout?: number | undefined
}): Promise<{ vendor: GivenVendor; selected: SelectedDeployment }> {
  return interruptible(async (signal) => {
    const { openDeployment } = await import('../../runtime/index.ts')
    const selected = await chosenDeployment(flags, signal)
    const opened = await openDeployment(selected, {
      timeoutMs: (flags.timeout ?? defaultTimeoutSeconds) * 1000,
      environment: process.env,
      config: flags.config,
      signal,
    })
    try {
      const { vendor, assumedVendor = [] } = opened.deployment
      return {
        vendor: {
          ...(!assumedVendor.includes('prefix') && { prefix: vendor.prefix }),
          ...(!assumedVendor.includes('package') && { package: vendor.package }),
        },
        selected,
      }
    } finally {
      await opened.close()
    }
  })
}
