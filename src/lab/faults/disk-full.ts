import { onDatabase } from '../access/database.ts'
import type { Fault } from '../fault.ts'
import { serversOf } from '../lab.ts'
import { fillDisk, freeDisk } from '../servers/index.ts'

export const diskFull: Fault = {
  id: 'disk-full',
  kind: 'fault',
  title: "PostgreSQL's data disk is full",
  repair: 'free space on that disk, or enlarge it',
  cases: [
    {
      variant: null,
      made: "PostgreSQL's small data disk is filled to the last block; on a machine that cannot mount such a disk, a preloaded library makes writes fail as on a full disk",
      expected: { exitCode: 1, problems: { 'database/disk': 'error' }, allowedConsequences: [] },
      needs: { own: ['postgres'] },
      async apply(lab) {
        const { postgres } = await serversOf(lab)
        // writes the file that each new session reads; if it is missing, a full disk lets nobody in, which is
        // a different fault
        await onDatabase(lab, async (sql) => sql('SELECT 1'))
        await fillDisk(postgres)
        if (postgres.local?.disk?.kind === 'preload')
          lab.progress(
            "this machine cannot mount a small disk: PostgreSQL's writes fail as on a full one, but df still shows free space",
          )
      },
      async revert(lab) {
        await freeDisk((await serversOf(lab)).postgres)
      },
    },
  ],
}
