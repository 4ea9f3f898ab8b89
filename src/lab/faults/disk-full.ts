import { onDatabase } from '../access/database.ts'
import type { Fault } from '../fault.ts'
import { serversOf } from '../lab.ts'
import { fillDisk, freeDisk } from '../servers/index.ts'

export const diskFull: Fault = {
  id: 'disk-full',
  kind: 'fault',
  title: "the disk of PostgreSQL's data is full",
  repair: 'make room on that disk, or enlarge it',
  cases: [
    {
      variant: null,
      made: "PostgreSQL's data can grow no more: its small disk is filled to the last block, or, where this machine mounts none, a preloaded library refuses the writes as a full disk does",
      expected: { exitCode: 1, problems: { 'database/disk': 'error' }, allowedConsequences: [] },
      needs: { own: ['postgres'] },
      async apply(lab) {
        const { postgres } = await serversOf(lab)
        // writes the file that each new session reads; where it is missing, a full disk takes nobody in, which is
        // another fault than this one
        await onDatabase(lab, async (sql) => sql('SELECT 1'))
        await fillDisk(postgres)
        if (postgres.local?.disk?.kind === 'preload')
          lab.progress(
            "this machine lets us mount no small disk: PostgreSQL's writes are refused as on a full one, and df shows the room that there really is",
          )
      },
      async revert(lab) {
        await freeDisk((await serversOf(lab)).postgres)
      },
    },
  ],
}
