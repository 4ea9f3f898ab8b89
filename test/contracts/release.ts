import { describe, expect, test } from 'vitest'
import type { ReleaseControl } from '../../src/core/controls.ts'
import type { AdminError } from '../../src/core/error.ts'
import type { ReleaseSource, ReleaseUpgrade } from '../../src/core/sources.ts'

/** A release that was installed with `version: 526u03`, and files of values. */
interface Installed {
  source: ReleaseSource
  control: ReleaseControl
  /** of these values, later files above earlier ones */
  upgrade: (...files: object[]) => Promise<ReleaseUpgrade>
  /** has `kubectl-set` set the service's image to another */
  occupy: () => Promise<void>
}

/** What helm is to us, whichever it is. */
export function releaseContract(installed: () => Promise<Installed>): void {
  const run = { timeoutMs: 60_000, started: async () => undefined }

  describe('release', () => {
    test('is told as it is on record', async () => {
      const { source } = await installed()
      expect(await source.latest()).toMatchObject({
        revision: 1,
        status: 'deployed',
        description: 'Install complete',
        chart: { name: 'testops', version: '5.27.2' },
        values: { version: '526u03' },
      })
      expect(source.target).toBe('release testops in namespace testops')
      expect(await source.revision(1)).toEqual(await source.latest())
      expect(await source.revision(7)).toBeNull()
    })

    test('a trial merges the files in their order, and puts nothing on record', async () => {
      const { source, upgrade } = await installed()
      const trial = await source.trial(
        await upgrade(
          { version: '526u03', image: { registry: 'r', imageName: 'testops' } },
          { image: { imageName: 'testops-legacy' } },
        ),
      )
      expect(trial).toEqual({
        chart: { name: 'testops', version: '5.27.2' },
        values: { version: '526u03', image: { registry: 'r', imageName: 'testops-legacy' } },
      })
      expect((await source.latest()).revision).toBe(1)
    })

    test('is upgraded, and goes back to the values of a revision', async () => {
      const { source, control, upgrade } = await installed()
      const marks: string[] = []
      await control.upgrade(await upgrade({ version: '527u01' }), {
        ...run,
        started: async (mark) => void marks.push(mark),
      })
      expect(await source.latest()).toMatchObject({ revision: 2, status: 'deployed', values: { version: '527u01' } })
      expect(await control.isRunning(marks[0]!)).toBe(false)
      await control.rollback(1, run)
      expect(await source.latest()).toMatchObject({
        revision: 3,
        status: 'deployed',
        description: 'Rollback to 1',
        values: { version: '526u03' },
      })
      expect(await source.revision(1)).toMatchObject({ status: 'superseded' })
    })

    test('fields that others own are told of an upgrade and of a rollback, and nothing is put on record', async () => {
      const { source, upgrade, occupy } = await installed()
      const next = {
        ...(await upgrade({ version: '526u03', image: { registry: 'r' } })),
        values: [{ path: ['version'], to: '527u01' }],
      }
      expect([await source.conflicts(next), await source.conflicts({ revision: 1 })]).toEqual([[], []])
      await occupy()
      const conflict = {
        object: 'deployments/testops-testops',
        field: '.spec.template.spec.containers[name="testops-testops"].image',
        manager: 'kubectl-set',
        shown: expect.stringMatching(/get deployments\/testops-testops -o yaml --show-managed-fields$/) as string,
      }
      expect([await source.conflicts(next), await source.conflicts({ revision: 1 })]).toEqual([[conflict], [conflict]])
      expect((await source.latest()).revision).toBe(1)
    })

    test('a chart that is not there is told', async () => {
      const { source, upgrade } = await installed()
      await expect(source.trial({ ...(await upgrade({})), chart: 'nowhere' })).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      } satisfies Partial<AdminError>)
    })
  })
}
