import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DatabaseEndpoint } from '../../src/core/endpoint.ts'
import { cached } from '../../src/lab/servers/packages/cache.ts'
import { installFromNpm } from '../../src/lab/servers/packages/npm.ts'

const version = '4.28.1'

/** What a change set does: one long statement, or a step outside the database after a short one. */
type Work = 'statement' | 'java in a transaction' | 'java outside of one'

export interface Update {
  name: string
  work: Work
  seconds?: number
  /** of the JVM */
  zone?: string
  endpoint: DatabaseEndpoint
  /** further words of the command line */
  words?: readonly string[]
}

/** A Liquibase that has the lock, and is at its work. */
export interface Migration {
  /** SIGKILL to the JVM; what it had started ends too */
  kill(): Promise<void>
  end(): Promise<void>
}

/** Real Liquibase, of the npm package that carries its jars; it needs Java. */
export interface Liquibase {
  /** returns once it is at its work. `isAtWork`: of a statement, which the database shows */
  update(update: Update, isAtWork: () => Promise<boolean>): Promise<Migration>
  remove(): Promise<void>
}

export async function liquibase(): Promise<Liquibase> {
  const options = { progress: (message: string) => void process.stderr.write(`${message}\n`) }
  const base = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  const cache = await cached(
    join(base, 'testops-admin', 'tests'),
    `liquibase-${version}`,
    async (temporary) => installFromNpm(temporary, `liquibase@${version}`, options),
    options,
  )
  const jars = join(cache, 'node_modules/liquibase/dist/liquibase')
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-liquibase-'))
  await mkdir(join(folder, 'changes'))
  return {
    async update({ name, work, seconds = 60, zone = 'UTC', endpoint, words = [] }, isAtWork) {
      const begun = join(folder, `${name}.pid`)
      const { host, port } = endpoint.hosts[0]!
      await writeFile(join(folder, 'changes', `${name}.json`), JSON.stringify(changesOf(name, work, seconds, begun)))
      const all = [
        `-Duser.timezone=${zone}`,
        '-cp',
        `${jars}/internal/lib/*:${jars}/lib/*`,
        'liquibase.integration.commandline.LiquibaseCommandLine',
        `--search-path=${join(folder, 'changes')}`,
        `--url=jdbc:postgresql://${host}:${port}/${endpoint.database}?prepareThreshold=0`,
        `--username=${endpoint.user}`,
        ...words,
        'update',
        `--changelog-file=${name}.json`,
      ]
      const child = spawn('java', all, {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { ...process.env, LIQUIBASE_COMMAND_PASSWORD: endpoint.password!.reveal() },
      })
      let said = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
      const ended = new Promise<void>((resolve, reject) => {
        child.once('exit', () => resolve())
        child.once('error', (cause) => reject(new Error('these tests need Java, to run a real Liquibase', { cause })))
      })
      ended.catch(() => undefined)
      const kill = async (): Promise<void> => {
        child.kill('SIGKILL')
        await ended
        const pid = Number(await readFile(begun, 'utf8').catch(() => ''))
        try {
          if (pid > 0) process.kill(pid, 'SIGKILL')
        } catch {
          // it has ended
        }
      }
      const isThere = async (): Promise<boolean> =>
        work === 'statement' ? isAtWork() : (await readFile(begun, 'utf8').catch(() => '')).endsWith('\n')
      for (const end = Date.now() + 120_000; !(await isThere()); await Promise.race([sleep(100), ended])) {
        if (child.exitCode === null && Date.now() < end) continue
        await kill()
        throw new Error(`liquibase did not come to its work (${child.exitCode}): ${said}`)
      }
      return { kill, end: kill }
    },
    remove: async () => rm(folder, { recursive: true, force: true }),
  }
}

function changesOf(id: string, work: Work, seconds: number, begun: string): object {
  const statement = { sql: { sql: work === 'statement' ? `SELECT pg_sleep(${seconds})` : 'SELECT 1' } }
  // a program that is run is what needs least to be quiet in Java
  const program = {
    executeCommand: {
      executable: '/bin/sh',
      args: ['-c', `echo $$ > ${begun}; exec sleep ${seconds}`].map((value) => ({ arg: { value } })),
    },
  }
  return {
    databaseChangeLog: [
      {
        changeSet: {
          id,
          author: 't',
          runInTransaction: work !== 'java outside of one',
          changes: work === 'statement' ? [statement] : [statement, program],
        },
      },
    ],
  }
}
