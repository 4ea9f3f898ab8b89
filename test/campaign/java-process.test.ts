import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { afterEach, expect, test } from 'vitest'
import { findJavaProcesses } from '../../src/platforms/host/finder.ts'
import { folderWith } from '../runtime/folder.ts'
import { asNobody } from '../support/as-nobody.ts'

const source = 'public class Main { public static void main(String[] a) throws Exception { Thread.sleep(60000); } }'

let jvm: ChildProcess
afterEach(() => jvm.kill('SIGKILL'))

/** A JVM of that jar, from a folder of its own. Fails where this machine has no JDK. */
async function started(jar: string, env: NodeJS.ProcessEnv): Promise<string> {
  const folder = await folderWith({ 'Main.java': source, manifest: 'Main-Class: Main\n' })
  const run = async (program: string, ...words: string[]): Promise<void> => {
    const child = spawn(program, words, { cwd: folder, stdio: 'inherit' })
    expect(await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve)), program).toBe(0)
  }
  await run('javac', 'Main.java')
  await run('jar', 'cfm', jar, 'manifest', 'Main.class')
  jvm = spawn('java', ['-Xmx32m', '-jar', jar], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
    stdio: 'ignore',
  })
  await new Promise((resolve) => jvm.once('spawn', resolve))
  return folder
}

test('a JVM, by its own user and by another one, who may not read what it has', async () => {
  const folder = await started('testops.jar', { ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS: '3600' })
  const of = async (): Promise<unknown> => (await findJavaProcesses()).find(({ pid }) => pid === jvm.pid)
  expect(await of()).toMatchObject({
    program: 'testops.jar',
    folder,
    environment: expect.toSatisfy(
      (it: ReadonlyMap<string, string>) => it.get('ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS') === '3600',
    ) as unknown,
  })
  // to be another one takes root
  if (process.geteuid?.() !== 0) return
  expect(await asNobody(of)).toMatchObject({
    program: 'testops.jar',
    user: 'root',
    environment: null,
    folder: null,
    logFile: null,
  })
}, 60_000)
