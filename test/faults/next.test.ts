import { describe, expect, test } from 'vitest'
import { sharedLab } from '../lab/support/own-lab.ts'
import { decisive } from '../support/campaign.ts'
import { followed, followNext } from './follow.ts'
import { rowTimeoutMs } from './matrix.ts'

const lab = sharedLab()

/** One for each way that it can take; all of them, and every two at once, are in the campaign. */
describe('Next: as it is typed leads to health', () => {
  test.each(followed)(
    '%s',
    async (names) => {
      await lab.must('lab', 'break', ...names.split(' '))
      try {
        expect(await followNext(lab)).toMatchObject({ byHand: null })
      } finally {
        await lab.must('lab', 'mend')
      }
    },
    rowTimeoutMs,
  )
})

describe('Next: leads to one step by hand on', () => {
  const steps: readonly (readonly [string, RegExp])[] = [
    ['clock-skew/far', /^sudo timedatectl set-ntp true {3}# on this machine$/],
    ['token-refused', /^\$\{EDITOR:-vi\} \S+\/secrets\/api-token {3}# on this machine$/],
    ['legacy-too-early', /^docker pull registry\.example\.org\/testops\/testops-legacy:527u01 {3}# on this machine$/],
    ['out-of-memory', /^\$\{EDITOR:-vi\} \S+\/service\/\S+ {3}# on this machine$/],
    [
      'connections-exhausted/full',
      /^psql -h \S+ -p \d+ -U postgres -d testops -c 'SELECT pid, .*' {3}# on this machine$/,
    ],
    ['broker-down', /^sudo systemctl start rabbitmq-server {3}# on this machine$/],
  ]
  test.each(decisive(steps, 3))(
    '%s',
    async (name, step) => {
      await lab.must('lab', 'break', name)
      try {
        expect(await followNext(lab)).toEqual({ path: [], byHand: expect.stringMatching(step) as string })
      } finally {
        await lab.must('lab', 'mend')
      }
    },
    rowTimeoutMs,
  )
})
