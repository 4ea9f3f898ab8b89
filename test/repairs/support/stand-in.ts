import { rmSync, writeFileSync } from 'node:fs'
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A stand-in for the service, for a deployment of `platform: host`: a sleeping process, with commands that start it,
 * stop it and show its state within milliseconds. For repairs whose outcome does not depend on what the service does;
 * the lab's practice service is the one that behaves like the service.
 */
export interface StandIn {
  readonly directory: string
  /** `host` of a configuration */
  readonly host: HostSettings
  /**
   * Address of a server that answers health, and requests with any API token, while the service runs. It answers 503
   * while `isUp` is false, and closes the connection while the service is stopped: `url` of a configuration
   */
  readonly url: string
  /** Sets how the commands behave from now on; null: correctly */
  behave(how: Partial<Record<'start' | 'stop' | 'status', Misbehaviour | null>>): Promise<void>
  /** Sets what runs after each start, before the command returns, as the service's first work */
  onStart(work: (() => Promise<void>) | null): void
  /** True if the service has finished starting; true unless told otherwise */
  isUp: boolean
  /** Starts it without the operator's commands, as an orchestrator does */
  start(): Promise<void>
  stop(): Promise<void>
  /** SIGKILL */
  kill(): Promise<void>
  isRunning(): Promise<boolean>
  /** Requests, oldest first: 'start' and 'stop', even if it was already running or stopped */
  calls(): Promise<string[]>
  log(text: string): Promise<void>
  /** Writes `NAME=value` lines to its environment file */
  settings(text: string): Promise<void>
  /** Path of its environment file */
  readonly settingsFile: string
  end(): Promise<void>
}

/** Fail: exits with 1 and does nothing; hang: does nothing for a minute; die (start): the service ends at once */
type Misbehaviour = 'fail' | 'hang' | 'die'

interface HostSettings {
  commands: Readonly<Record<'start' | 'stop' | 'status', readonly string[]>>
  logs: { file: string }
  environmentFile: string
}

export async function standIn({ running = true, settings = '' } = {}): Promise<StandIn> {
  const directory = await mkdtemp(join(tmpdir(), 'testops-admin-stand-in-'))
  const file = (name: string): string => join(directory, name)
  await writeFile(file('control'), script, { mode: 0o700 })
  await writeFile(file('service.log'), '')
  await writeFile(file('service.env'), settings)
  await writeFile(file('calls'), '')
  const command = (verb: string): string[] => ['/bin/sh', file('control'), verb, directory]
  const { runProgram } = await import('../../../src/adapters/process.ts')
  const { isAlive } = await import('../../../src/adapters/process-identity.ts')
  const call = async (verb: string): Promise<void> => {
    await runProgram(command(verb) as [string, ...string[]], { timeoutMs: 10_000 })
  }
  // as `alive` of the script does it, without a process: it is asked for thousands of times
  const isRunning = async (): Promise<boolean> => {
    const [pid = '', at] = (await readFile(file('pid'), 'utf8').catch(() => '')).trim().split(' ')
    return at !== undefined && (await isAlive({ pid: Number(pid), startTime: at }))
  }
  let work: (() => Promise<void>) | null = null
  const poll = setInterval(() => void answerStart(), 10)
  let busy = false
  const answerStart = async (): Promise<void> => {
    if (!work || busy) return
    busy = true
    const isAsked = await stat(file('asked')).then(
      () => true,
      () => false,
    )
    if (isAsked) await work().catch(() => undefined)
    if (isAsked) await rm(file('asked'), { force: true })
    busy = false
  }
  const server = createServer(({ url = '' }, response) => {
    void isRunning().then((runs) => {
      if (!runs) return void response.socket?.destroy()
      const up = it.isUp
      response.writeHead(up ? 200 : 503, { 'content-type': up ? 'application/json' : 'text/html', connection: 'close' })
      response.end(up ? JSON.stringify(api[url.replace(/\?.*/, '')] ?? { status: 'UP' }) : 'starting')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const it: StandIn = {
    directory,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    host: {
      commands: { start: command('start'), stop: command('stop'), status: command('status') },
      logs: { file: file('service.log') },
      environmentFile: file('service.env'),
    },
    isUp: true,
    async behave(how) {
      for (const [verb, misbehaviour] of Object.entries(how)) {
        if (misbehaviour === null) await rm(file(`${verb}.behaviour`), { force: true })
        else await writeFile(file(`${verb}.behaviour`), misbehaviour)
      }
    },
    onStart(next) {
      work = next
      if (next) writeFileSync(file('hooked'), '')
      else rmSync(file('hooked'), { force: true })
    },
    start: async () => call('run'),
    stop: async () => call('end'),
    kill: async () => call('kill'),
    isRunning,
    calls: async () => (await readFile(file('calls'), 'utf8')).split('\n').filter(Boolean),
    log: async (text) => appendFile(file('service.log'), `${text}\n`),
    settingsFile: file('service.env'),
    settings: async (text) => writeFile(file('service.env'), text),
    async end() {
      clearInterval(poll)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await call('kill')
      await rm(directory, { recursive: true, force: true })
    },
  }
  if (running) await it.start()
  return it
}

const api: Readonly<Record<string, unknown>> = {
  '/api/uaa/oauth/token': { access_token: 'bearer', expires_in: 3600 },
  '/api/project': [{ id: 1, name: 'Web shop' }],
  '/api/tree': [{ id: 2, name: 'Features' }],
  '/api/migration/job': [],
}

/** Start, stop and status are the operator's and may misbehave; run, end and kill belong to the tests. */
const script = `
verb=$1; cd "$2" || exit 9
# runs no program where the shell can do it itself: each takes longer than all else
got() { got=; { read -r got <"$1"; } 2>/dev/null; }
# when a process was started, so that none is taken for one that had its number before; nothing where it has ended
since() { got "/proc/$1/stat"; set -- \${got##*) }; since=; [ "$1" = Z ] || since=\${20}; }
read -r pid at 2>/dev/null <pid
alive() { [ -n "$at" ] && since "$pid" && [ "$since" = "$at" ]; }
# it ends at once, unless others have the processor
gone() { n=0; while alive; do n=$((n + 1)); [ $n -lt 100 ] || sleep 0.05; done; }
run() {
  alive && return
  rm -f failed
  date -u +%Y-%m-%dT%H:%M:%S.%3NZ >started
  setsid sleep 1000000 </dev/null >/dev/null 2>&1 &
  since $!
  echo "$! $since" >pid
  if [ -e hooked ]; then : >asked; while [ -e asked ]; do sleep 0.05; done; fi
}
got "$verb.behaviour"; how=$got
case $verb in start|stop) echo "$verb" >>calls;; esac
case $how in
  fail) echo "$verb was refused" >&2; exit 1;;
  hang) exec sleep 60;;
esac
case $verb in
  start|run) run; if [ "$how" = die ]; then read -r pid at <pid; kill -KILL "$pid"; gone; : >failed; fi;;
  stop|end) if alive; then kill -TERM "$pid"; gone; fi; rm -f failed;;
  kill) if alive; then kill -KILL "$pid"; gone; : >failed; fi;;
  status)
    if alive; then
      got started
      printf 'ActiveState=active\\nSubState=running\\nMainPID=%s\\nExecMainStartTimestamp=%s\\n' "$pid" "$got"
    elif [ -e failed ]; then
      printf 'ActiveState=failed\\nSubState=failed\\nMainPID=0\\nResult=signal\\n'; exit 3
    else
      printf 'ActiveState=inactive\\nSubState=dead\\nMainPID=0\\nResult=success\\n'; exit 3
    fi;;
esac
`
