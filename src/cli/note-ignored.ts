import { tellLine } from './write.ts'

interface ConfigFlag {
  config?: string | undefined
}

/**
 * Says on standard error that a configuration is ignored because others could have written it. For commands that need
 * none. Returns true if there is such a configuration.
 */
export async function noteIgnored({ config: file }: ConfigFlag): Promise<boolean> {
  const { ignoredConfiguration } = await import('../runtime/configuration/find.ts')
  const note = await ignoredConfiguration({ file, environment: process.env, workingDirectory: process.cwd() })
  if (note !== null) tellLine(process.stderr, note)
  return note !== null
}
