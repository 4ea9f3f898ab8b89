import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { dump, load } from 'js-yaml'
import { onTestFinished } from 'vitest'
import { kubernetesTools } from '../../support/kubernetes-tools.ts'
import { operator } from '../support/operator.ts'
import type { Operator } from '../support/operator.ts'

const fixtures = join(import.meta.dirname, '../../fixtures/charts')

/** A chart of these tests: one of the fixtures, or two umbrellas around the vendor's. */
export type ChartName = 'vendor' | 'services' | 'nginx' | 'umbrella'

/** An operator with one values file and one chart on a machine that has helm. */
export interface ValuesSituation {
  someone: Operator
  folder: string
  file: string
  text: () => Promise<string>
  chart: (name: ChartName) => Promise<string>
  /** what `helm template` makes of it with the values that lie at these keys, by lines, without what is random */
  rendered: (name: ChartName, at?: readonly string[]) => Promise<string[]>
}

export async function valuesSituation(
  text: string,
  { name = 'values.yaml', isHelm3 = false }: { name?: string; isHelm3?: boolean } = {},
): Promise<ValuesSituation> {
  const { helm } = await kubernetesTools({ isHelm3 })
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'testops-admin-layouts-')))
  const file = join(folder, name)
  await writeFile(file, text)
  const someone = await operator({
    name,
    environment: { PATH: `${dirname(helm)}:${process.env['PATH']}` },
  })
  onTestFinished(async () => {
    await someone.leave()
    await rm(folder, { recursive: true })
  })
  const chart = async (of: ChartName): Promise<string> => {
    if (of !== 'umbrella') return join(fixtures, of)
    const [whole, platform] = [join(folder, 'umbrella'), join(folder, 'umbrella/charts/platform')]
    await mkdir(join(platform, 'charts'), { recursive: true })
    await writeFile(join(whole, 'Chart.yaml'), 'apiVersion: v2\nname: umbrella\nversion: 1.0.0\n')
    await writeFile(join(platform, 'Chart.yaml'), 'apiVersion: v2\nname: platform\nversion: 1.0.0\n')
    await cp(join(fixtures, 'vendor'), join(platform, 'charts/testops'), { recursive: true })
    return whole
  }
  return {
    someone,
    folder,
    file,
    text: async () => readFile(file, 'utf8'),
    chart,
    async rendered(of, at = []) {
      const inside = at.reduce<unknown>(
        (value, key) => (value as Record<string, unknown>)[key],
        load(await readFile(file, 'utf8')),
      )
      const values = join(folder, 'rendered.yaml')
      await writeFile(
        values,
        at.length === 0 ? await readFile(file) : typeof inside === 'string' ? inside : dump(inside),
      )
      const { stdout } = await promisify(execFile)(helm, ['template', 'testops', await chart(of), '-f', values])
      return stdout.split('\n').filter((line) => !line.includes('rendered:'))
    },
  }
}

/** The lines in which two renderings differ, without their blanks: `- was`, `+ is`. */
export function changesIn(before: readonly string[], after: readonly string[]): string[] {
  const only = (one: readonly string[], other: readonly string[], sign: string): string[] =>
    one.filter((line) => !other.includes(line)).map((line) => `${sign} ${line.trim()}`)
  return [...only(before, after, '-'), ...only(after, before, '+')]
}
