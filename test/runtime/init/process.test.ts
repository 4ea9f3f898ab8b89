import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { findProcesses } from '../../../src/runtime/init/index.ts'

/** What a configuration would say of the database, out of the environment of a process that is called as Java is. */
async function databaseOf(url: string): Promise<unknown> {
  const env = {
    PATH: process.env.PATH,
    ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS: '3600',
    SPRING_DATASOURCE_URL: url,
    SPRING_DATASOURCE_USERNAME: 'tms',
  }
  const child = spawn('sleep', ['60'], { argv0: 'java', env, stdio: 'ignore' })
  try {
    await new Promise((resolve) => child.once('spawn', resolve))
    return (await findProcesses()).find(({ what }) => what.startsWith(`process ${child.pid} `))?.addresses['database']
  } finally {
    child.kill('SIGKILL')
  }
}

const plain = 'jdbc:postgresql://db/tms?sslmode=verify-full'

test.each([
  ['as it stands', plain, { url: plain, user: 'tms' }],
  ['not at all where it holds a password', `${plain}&password=hunter2`, undefined],
  ["nor where it holds a key's", `${plain}&sslpassword=hunter2`, undefined],
])("the database's address is taken from a process %s", async (_, url, expected) => {
  expect(await databaseOf(url)).toEqual(expected)
})
