import type { ReleaseControl } from '../../src/core/controls.ts'
import { AdminError } from '../../src/core/error.ts'
import { isObject } from '../../src/core/shape.ts'
import type { FieldConflict, ReleaseRevision, ReleaseSource, ReleaseUpgrade, Values } from '../../src/core/sources.ts'
import { typed } from '../../src/core/typed.ts'

/** A release in memory. */
export interface ReleaseWorld {
  /** Oldest first; tests may change them at any time */
  readonly revisions: ReleaseRevision[]
  /** Contents of the files that helm receives */
  readonly files: Map<string, Values>
  /** Fields that others own, which make helm fail */
  readonly conflicts: FieldConflict[]
  readonly source: ReleaseSource
  readonly control: ReleaseControl
}

const chart = { name: 'testops', version: '5.27.2' }

/** A release installed with the given values, unless told otherwise. */
export function releaseWorld({
  installed = {},
  files = {},
}: {
  installed?: Values
  files?: Readonly<Record<string, Values>>
} = {}): ReleaseWorld {
  const held = new Map(Object.entries(files))
  const revisions: ReleaseRevision[] = [
    {
      revision: 1,
      status: 'deployed',
      description: 'Install complete',
      updatedAt: '2026-11-21T02:35:46Z',
      chart,
      values: installed,
    },
  ]
  const put = (values: Values, description: string): void => {
    if (revisions.at(-1)!.status.startsWith('pending-') && description === 'Upgrade complete')
      throw new AdminError('BUSY', 'another operation of helm is under way')
    for (const it of revisions) it.status = it.status === 'failed' ? it.status : 'superseded'
    revisions.push({
      revision: revisions.length + 1,
      status: 'deployed',
      description,
      updatedAt: '2026-11-21T02:35:47Z',
      chart,
      values,
    })
  }
  const valuesOf = ({ files: named }: ReleaseUpgrade): Values =>
    named.reduce<Values>((all, file) => merged(all, held.get(file) ?? missing(file)), {})
  const conflicts: FieldConflict[] = []
  return {
    revisions,
    files: held,
    conflicts,
    source: {
      target: 'release testops in namespace testops',
      helm: (...words) => typed(['helm', ...words.flatMap((it) => it.split(' ')), 'testops']),
      latest: async () => structuredClone(revisions.at(-1)!),
      revision: async (number) => structuredClone(revisions.find(({ revision }) => revision === number) ?? null),
      async trial(upgrade) {
        if (!upgrade.chart.includes('/')) throw new AdminError('UNAVAILABLE', `chart ${upgrade.chart} cannot be had`)
        return { chart, values: valuesOf(upgrade) }
      },
      conflicts: async () => structuredClone(conflicts),
    },
    control: {
      async upgrade(upgrade, { started }) {
        await started('fake')
        put(valuesOf(upgrade), 'Upgrade complete')
      },
      async rollback(number, { started }) {
        await started('fake')
        put(revisions.find(({ revision }) => revision === number)!.values, `Rollback to ${number}`)
      },
      isRunning: async () => false,
    },
  }
}

function missing(file: string): never {
  throw new AdminError('REFUSED', `the file ${file} is missing`)
}

function merged(one: Values, other: Values): Values {
  const all: Record<string, unknown> = { ...one }
  for (const [key, value] of Object.entries(other))
    all[key] = isObject(value) && isObject(all[key]) ? merged(all[key], value) : value
  return all
}
