import { tellLine } from './write.ts'

interface ConfigFlag {
  config?: string | undefined
}

/**
 * Says on standard error that a configuration is ignored which others could have written, for a command that needs
 * none; whether there is such a one.
 */
export async function noteIgnored({ config: file }: ConfigFlag): Promise<boolean> {
  const { ignoredConfiguration } = await import('../runtime/configuration/ignored.ts')
  const note = await ignoredConfiguration({ file, environment: process.env, workingDirectory: process.cwd() })
  if (note !== null) tellLine(process.stderr, note)
  return note !== null
}
