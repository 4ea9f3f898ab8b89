import { Flags } from '@oclif/core'
import type { GivenVendor } from '../../repairs/set-env/vendor.ts'
import type { SelectedDeployment } from '../../runtime/index.ts'
import { AdminError } from '../../core/error.ts'
import { chosenDeployment } from '../chosen-deployment.ts'
import { interruptible } from '../interrupt.ts'
import { defaultTimeoutSeconds } from '../time-out.ts'

/** Flags that name the vendor's settings and loggers, for when nothing else shows the names. */
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

/** Returns the vendor's names that the flags give. Throws USAGE for an invalid one. */
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

/** Returns the vendor's names from the deployment's configuration or settings, and the deployment. */
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
