import { expect, test } from 'vitest'
import { withLastWords } from '../../src/actions/answers.ts'
import { AdminError } from '../../src/core/error.ts'
import { Secret } from '../../src/core/secret.ts'
import type { ServiceSource } from '../../src/core/sources.ts'
import { fakeDeployment, fakeService, health } from '../fakes/index.ts'
import type { Answers } from '../fakes/fake.ts'
import { workshopOf } from './workshop.ts'

const late = new AdminError('TIMED_OUT', 'the service is not up', ['{logs}'])
const ended = {
  name: 'testops-1',
  isUp: false,
  isReady: false,
  startedAt: null,
  waits: 'CrashLoopBackOff',
  ended: { reason: 'Error', exitCode: 1, startedAt: null, at: null },
  restarts: 3,
}
const crashed = { health: health({ wanted: 1, instances: [ended] }) }

async function told(of: Answers<ServiceSource>): Promise<AdminError> {
  const workshop = workshopOf(fakeDeployment())
  return withLastWords(late, { ...workshop, open: { ...workshop.open, service: async () => fakeService(of) } })
}

test(
  'what it ended with is told, with the command that shows it, ' + 'and nothing secret, even where it is cut',
  async () => {
    const { code, message, suggestions } = await told({
      ...crashed,
      environment: new Map([['JWT_SECRET', new Secret('geheim-und-lang-genug')]]),
      lastWords: {
        command: 'kubectl logs testops-1 --previous',
        text: `starting\n${'x'.repeat(290)} geheim-und-lang-genug\n`,
      },
    })
    expect({ code, suggestions }).toEqual({
      code: 'TIMED_OUT',
      suggestions: ['kubectl logs testops-1 --previous', '{logs}'],
    })
    expect(message).toMatch(/^the service is not up; the service last printed: starting \/ x{290} \[secret\]$/)
  },
)

test.each<[string, Answers<ServiceSource>]>([
  ['that nothing has ended', { lastWords: { command: 'c', text: 'all is well' } }],
  ['what may not be seen', { ...crashed, lastWords: new AdminError('FORBIDDEN', 'tester may not get pods/log') }],
  ['a run that printed nothing', { ...crashed, lastWords: { command: 'c', text: '\n' } }],
])('%s adds nothing to what is wrong', async (_, of) => {
  expect(await told(of)).toBe(late)
})
