import { createHash } from 'node:crypto'
import { harmless } from '../../core/harmless.ts'
import { AdminError } from '../../core/error.ts'
import { asPath } from '../../core/shell-command.ts'
import type { TemplateFacts, TemplateFile } from './facts.ts'

/** Returns Prometheus alert rules for one deployment, and their tests. */
export async function alertFiles(facts: TemplateFacts): Promise<TemplateFile[]> {
  return Promise.all(
    ['alerts.yaml', 'alerts.test.yaml'].map(async (name) => {
      const { about, documents } = await facts.source(`monitoring/${name}`)
      const value = filled(documents[0], (text, key) => withDeployment(text, key, facts))
      return { name, content: [{ about, value }] }
    }),
  )
}

/** How a text is quoted where it stands, by the key that holds it; as it is elsewhere. */
const quoting: Readonly<Record<string, (text: string) => string>> = {
  // a string of PromQL, in double quotes
  expr: (text) => text.replace(/["\\]/g, '\\$&'),
  series: (text) => text.replace(/["\\]/g, '\\$&'),
  // a template of Go
  summary: (text) => text.replaceAll('{{', '{{ "{{" }}'),
  description: (text) => text.replaceAll('{{', '{{ "{{" }}'),
}

function withDeployment(text: string, path: string, { name, flags }: TemplateFacts): string {
  const [key = '', ...above] = path.split('/').toReversed()
  // what Prometheus is expected to have made of a template
  const quoted = above.includes('exp_annotations') ? undefined : quoting[key]
  const put = (to: string) => (): string => quoted?.(to) ?? to
  return text.replaceAll('-d DEPLOYMENT', put(flags)).replaceAll('DEPLOYMENT', put(harmless(name)))
}

/** Returns a Grafana dashboard that opens with this deployment. */
export async function dashboardFiles({ name, source }: TemplateFacts): Promise<TemplateFile[]> {
  const { documents } = await source('monitoring/dashboard.json')
  const dashboard = filled(documents[0], (text) => text.replaceAll('DEPLOYMENT', () => harmless(name)))
  // Grafana takes 40 characters
  const uid = `testops-admin-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`
  const value = { ...(dashboard as object), uid, title: `testops: ${harmless(name)}` }
  return [{ name: 'dashboard.json', content: `${JSON.stringify(value, null, 2)}\n` }]
}

/** Returns a job that checks test results in a pipeline. Throws USAGE if `--results` cannot be written into it. */
export async function pipelineFiles(
  kind: 'github-actions' | 'gitlab-ci',
  { version, options: { results }, source }: TemplateFacts,
): Promise<TemplateFile[]> {
  if (results?.includes('${{'))
    throw new AdminError('USAGE', '--results contains `${{`, which GitHub would evaluate: rename the directory')
  const { about, documents } = await source(`pipeline/${kind}.yaml`)
  const value = filled(documents[0], (text, path) =>
    results !== undefined && /\/RESULTS(?:\/value)?$/.test(path)
      ? asPath(results)
      : text.replaceAll('VERSION', () => version),
  )
  return [{ name: `${kind}.yaml`, content: [{ about, value }] }]
}

/** Returns a document with each of its texts replaced. `path`: the keys that lead there, each behind a slash. */
function filled(value: unknown, text: (value: string, path: string) => string, path = ''): unknown {
  if (typeof value === 'string') return text(value, path)
  if (Array.isArray(value)) return value.map((it) => filled(it, text, path))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, filled(it, text, `${path}/${key}`)]))
}
