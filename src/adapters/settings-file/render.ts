import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AdminError } from '../../core/error.ts'
import { isObject } from '../../core/shape.ts'
import type { ChartPlace, Rendered } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import { runProgram } from '../process.ts'
import { yamlDocuments, YamlError } from '../yaml/index.ts'

/** The program and place to run helm with. */
export interface HelmOptions {
  timeoutMs: number
  environment?: Readonly<Record<string, string | undefined>>
  signal?: AbortSignal
}

/** most bytes of a rendered chart with all that it includes */
const mostBytes = 50_000_000

/**
 * Renders a chart's templates with helm, without a cluster. Of the texts `values`, later ones win; `files` are their
 * names for the operator. The texts are in files that only this user can read, until helm ends. Throws as
 * `FilesSource.rendered` does.
 */
export async function renderChart(
  { chart, chartVersion }: ChartPlace,
  values: readonly string[],
  files: readonly string[],
  options: HelmOptions,
): Promise<Rendered> {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-helm-'))
  try {
    const paths = values.map((_, index) => join(folder, `${index}.yaml`))
    await Promise.all(paths.map(async (path, index) => writeFile(path, values[index]!, { mode: 0o600 })))
    const words = (named: readonly string[]): [string, ...string[]] => [
      'helm',
      'template',
      'testops',
      chart,
      ...(chartVersion === null ? [] : ['--version', chartVersion]),
      ...named.flatMap((file) => ['-f', file]),
    ]
    const { timeoutMs, environment = {}, signal } = options
    const { exitCode, stdout } = await runProgram(words(paths), {
      timeoutMs,
      environment: { ...environment, HELM_DEBUG: undefined, HELM_NAMESPACE: undefined },
      shown: words(files),
      maxBytes: mostBytes,
      signal,
      // a chart named REPOSITORY/NAME must not be read from a folder of the operator
      directory: '/',
    })
    // helm's message may quote values, and so secrets
    if (exitCode !== 0)
      throw new AdminError('REFUSED', `helm cannot render chart ${chart} with these values. Nothing was changed`, [
        typed(words(files)),
      ])
    return objectsIn(stdout, chart, typed(words(files)))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function objectsIn(text: string, chart: string, shown: ReturnType<typeof typed>): Rendered {
  try {
    const all = yamlDocuments(text).flatMap((it) => (isObject(it) ? [it] : []))
    return byName(
      all.map((it) => ({
        it,
        name: `${String(it['kind'])}/${isObject(it['metadata']) ? String(it['metadata']['name']) : ''}`,
      })),
    )
  } catch (error) {
    if (error instanceof YamlError)
      throw new AdminError(
        'REFUSED',
        `helm renders chart ${chart} with these values, but the result is not valid YAML. Nothing was changed`,
        [shown],
        { cause: error },
      )
    throw error
  }
}

function byName(all: readonly { it: unknown; name: string }[]): Record<string, unknown> {
  const counts = new Map<string, number>()
  return Object.fromEntries(
    all.map(({ it, name }) => {
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      return [count === 1 ? name : `${name}#${count}`, withNames(it)]
    }),
  )
}

function withNames(value: unknown): unknown {
  if (Array.isArray(value)) {
    const named = value.flatMap((it: unknown) =>
      isObject(it) && typeof it['name'] === 'string' ? [{ it, name: it['name'] }] : [],
    )
    return named.length === value.length && value.length > 0 ? byName(named) : value.map(withNames)
  }
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, it]) => [key, withNames(it)])) : value
}
