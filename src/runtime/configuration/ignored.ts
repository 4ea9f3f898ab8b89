import { configurationFile, shownAs } from './find.ts'
import type { ConfigurationRequest } from './find.ts'
import { judgementOf } from '../../adapters/read-file.ts'
import { distrusted, isTrusted, trustedByName } from '../../adapters/trust/assert.ts'

/**
 * Returns the notice that a command without need of a configuration ignores one that others could have written; null if
 * there is nothing to report. Reads nothing in it.
 */
export async function ignoredConfiguration(request: ConfigurationRequest): Promise<string | null> {
  const { environment, workingDirectory } = request
  const file = await configurationFile(request)
  const judgement = file === null ? null : await judgementOf(file)
  if (file === null || judgement === null || isTrusted(judgement, await trustedByName(environment))) return null
  return (
    'Ignored: ' +
    `${distrusted('the configuration', shownAs(file, workingDirectory), file, judgement, environment).message}`
  )
}
