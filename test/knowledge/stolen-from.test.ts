import { expect, test } from 'vitest'
import { stolenFrom } from '../../src/knowledge/log-signatures.ts'

const records = {
  taken: 'liquibase.lockservice : Successfully acquired change log lock',
  released: 'liquibase.lockservice : Successfully released change log lock',
  waits: 'liquibase.lockservice : Waiting for changelog lock....',
  refused:
    'liquibase.exception.LockException: Could not acquire change log lock.  Currently locked by vm ' +
    '(fd00:0:0:0:0:0:0:2%eth0) since 11/21/26, 2:12 AM',
  strange: 'Could not acquire change log lock',
  other: 'Started App in 21.3 seconds',
} as const

test.each<[what: string, told: (keyof typeof records)[], holder: string | null]>([
  [
    'waited in vain and released it all the same',
    ['other', 'waits', 'waits', 'released', 'refused', 'other'],
    'vm (fd00:0:0:0:0:0:0:2%eth0)',
  ],
  ['and says so twice', ['waits', 'released', 'refused', 'refused'], 'vm (fd00:0:0:0:0:0:0:2%eth0)'],
  ['in words that are not known', ['waits', 'released', 'strange'], 'another one'],
  [
    'after a start that was fine',
    ['taken', 'released', 'other', 'waits', 'released', 'refused'],
    'vm (fd00:0:0:0:0:0:0:2%eth0)',
  ],
  ['waited in vain and left it alone', ['taken', 'released', 'waits', 'refused'], null],
  ['got it after waiting', ['waits', 'taken', 'released'], null],
  ['has got it since', ['waits', 'released', 'refused', 'taken', 'released'], null],
  ['waits again', ['waits', 'released', 'refused', 'waits'], null],
  ['says nothing of it', ['other'], null],
])('a service that %s', (_, told, holder) => {
  expect(stolenFrom(told.map((one) => records[one]))).toBe(holder)
})
