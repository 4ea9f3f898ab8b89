import { defineRepair } from '../core/repair.ts'
import { typed } from '../core/typed.ts'
import type { Asked } from './legacy-image/build.ts'
import { planForCompose } from './legacy-image/compose.ts'
import { planForValues } from './legacy-image/values.ts'

/** One of `values` and `compose`, as absolute paths. */
export interface LegacyOptions {
  /** the file by which the work is known (`fileOf`) */
  main: string
  /** in Helm's order: the later wins */
  values?: readonly string[]
  /** the chart's own keys in an umbrella chart */
  path?: readonly string[]
  compose?: string
  service?: string | null
  build: string | null
  revert: boolean
}

/** Rewrites the image's name in a chart's values or in a compose file; no deployment is needed for it. */
export const useLegacyImage = defineRepair({
  id: 'use-legacy-image',
  title: 'use the image for processors without x86-64-v3',
  reads: ['files'],
  wants: [],
  async plan({ files }, _, options: LegacyOptions) {
    const { values = [], path = [], compose, service = null, build, revert } = options
    const asked: Asked = { build, revert, again: (...more) => again(options, more) }
    return compose === undefined ? planForValues(files, values, path, asked) : planForCompose(files, compose, service, asked)
  },
})

/** `more` stands above what was given. */
function again({ values = [], path = [], compose, service, build, revert }: LegacyOptions, more: readonly string[]): string {
  const given = [
    ...values.map((file) => ['--values', file]),
    ...(path.length > 0 ? [['--path', path.join('.')]] : []),
    ...(compose === undefined ? [] : [['--compose', compose]]),
    ...(service == null ? [] : [['--service', service]]),
    ...(build === null ? [] : [['--build', build]]),
    ...(revert ? [['--revert']] : []),
  ].filter(([flag]) => !more.includes(flag!))
  return typed(['testops-admin', 'use-legacy-image', ...given.flat(), ...more])
}
