import { expect, test } from 'vitest'
import type { IntegrationDocument } from '../../src/output/integration.ts'
import { sharedLab } from './support/own-lab.ts'

// it is taken down while the external system runs
const lab = sharedLab()

async function check(...words: string[]): Promise<{ exitCode: number | null; steps: string[] }> {
  const { exitCode, document } = await lab.json<IntegrationDocument>('check-integration', '-d', 'lab', ...words)
  const steps = document.integrations.flatMap((it) =>
    it.steps.map(({ step, status, cause }) => [step, status, cause].filter(Boolean).join(' ')),
  )
  return { exitCode, steps }
}

const signingIn = ['--integration', 'issue-tracker', '--sign-in', '--accept-risk', 'plain-http']

test('check-integration tells the blank at the end of the password, by where it is kept', async () => {
  await lab.must('lab', 'break', 'bad-credentials/blank')
  expect(await check()).toEqual({
    exitCode: 1,
    steps: ['connection ok', 'answer ok', 'user ok', 'password problem credentials', 'sign-in skipped'],
  })
  expect((await check(...signingIn)).steps).toContain('sign-in problem credentials')
  await lab.must('lab', 'mend')
  expect(await check()).toEqual({ exitCode: 3, steps: [] })
}, 180_000)

test('a wrong password has nothing at its ends, and is refused', async () => {
  await lab.must('lab', 'break', 'bad-credentials/wrong')
  expect((await check()).exitCode).toBe(0)
  expect(await check(...signingIn)).toMatchObject({
    exitCode: 1,
    steps: expect.arrayContaining(['password ok', 'sign-in problem credentials']) as unknown,
  })
  await lab.must('lab', 'mend')
}, 180_000)

test('a changed API is told from wrong credentials', async () => {
  await lab.must('lab', 'break', 'integration-400')
  expect(await check(...signingIn)).toEqual({
    exitCode: 1,
    steps: ['connection ok', 'answer problem api', 'user ok', 'password ok', 'sign-in problem api'],
  })
}, 180_000)
