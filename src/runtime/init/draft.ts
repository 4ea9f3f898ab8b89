import { dirname } from 'node:path'
import { parseYaml } from '../../adapters/yaml/index.ts'
import { configurationOf } from '../configuration/template.ts'
import type { DraftSection } from '../configuration/template.ts'
import { schema } from '../configuration/schema.ts'
import type { SelectedDeployment } from '../configuration/select.ts'
import { validate } from '../configuration/validate.ts'
import type { Discovered } from '../discover.ts'

/** A deployment as a configuration will state it: plain text, secrets by where they are kept. */
export type Draft = DraftSection
export type { DraftValue } from '../configuration/template.ts'

/** Returns what was found, as a configuration would say it. */
export function draftOf({
  settings: { platform = 'host', host, compose, kubernetes },
}: Pick<Discovered, 'settings'>): Draft {
  const sections = {
    ...(host?.unit !== undefined && { host: { unit: host.unit } }),
    ...(compose && { compose: { ...compose, ...(compose.file && { file: compose.file.path }) } as DraftSection }),
    ...(kubernetes && { kubernetes: kubernetes as DraftSection }),
  }
  return { platform, ...sections }
}

/**
 * Returns the deployment that a configuration with this draft would have. `sourceOf`: where a key's value comes from,
 * because a draft has no lines yet to show. Throws CONFIGURATION if the schema does not allow it.
 */
export function selectedOf(
  name: string,
  draft: Draft,
  file: string,
  sourceOf: (path: readonly string[]) => string,
): SelectedDeployment {
  const { value } = parseYaml(configurationOf(name, draft))
  const settings = validate(schema, value, {
    at: (path) => sourceOf(path.slice(2).map(String)),
    directory: dirname(file),
  })
  return { name, settings: settings.deployments.get(name)!, file }
}
