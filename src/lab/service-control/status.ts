import { execFile } from 'node:child_process'
import { constants } from 'node:os'
import { messageOf } from '../../core/error.ts'
import type { Unit } from './unit.ts'
import { replace } from './unit.ts'

/** The unit's state, as its script shows it. */
export interface UnitStatus {
  running: boolean
  /** `key=value` as `systemctl show` prints them */
  lines: readonly string[]
}

/** How the service's process ended. Times are ISO. */
export interface Ended {
  startedAt: string
  endedAt: string
  code: number | null
  signal: string | null
}

/**
 * Shows the unit in the script's folder, or in the folder given to it. A shell starts in a twentieth of the time that
 * Node needs, and every `doctor -d lab` asks. Without /proc, ps tells the process as `process-identity.ts` does.
 */
const script = `#!/bin/sh
# Shows the practice service as \`systemctl show\` does. Exits with 0 if it is running, else 3.
cd "\${1:-\${0%/*}}" || exit 4
pid= began= since= now=
[ -f service.pid ] && { read -r pid; read -r began; read -r since; } <service.pid
case $pid in '' | *[!0-9]*) pid= ;; esac
if [ -n "$pid" ]; then
  if [ -e /proc/self/stat ]; then
    { read -r line <"/proc/$pid/stat"; } 2>/dev/null || line=
    set -f
    set -- \${line##*) }
    case \${1:-X} in Z | X) ;; *) now=\${20} ;; esac
  else
    line=$(ps -o stat=,lstart= -p "$pid" | sed 's/^ *//; s/ *$//')
    case $line in '' | Z*) ;; *) now=$(printf %s "$line" | sed 's/^[^ ]* *//') ;; esac
  fi
fi
if [ -n "$now" ] && [ "$now" = "$began" ]; then
  printf '%s\\n' ActiveState=active SubState=running "MainPID=$pid" "ExecMainStartTimestamp=$since" \\
    ExecMainExitTimestamp= ExecMainCode=0 ExecMainStatus=0 Result=success
  exit 0
fi
# of a version that did not write these lines, nothing is shown but that it is not running
grep -qs '^ActiveState=' service.exit && cat service.exit || printf '%s\\n' ${linesOf(null).join(' ')}
exit 3
`

/** Writes the script into the unit's folder. */
export async function writeStatusScript(unit: Unit): Promise<void> {
  await replace(unit.statusFile, script)
}

/** Returns the unit's state. Throws an `Error` if the shell cannot be run. */
export async function status({ directory }: Unit): Promise<UnitStatus> {
  return new Promise((resolve, reject) => {
    execFile('/bin/sh', ['-c', script, 'status', directory], (error, stdout) => {
      if (error !== null && error.code !== 3) reject(new Error(messageOf(error), { cause: error }))
      else resolve({ running: error === null, lines: stdout.trimEnd().split('\n') })
    })
  })
}

/**
 * Returns what is shown of a service that is not running; null: it never ran. SIGTERM and a JVM's exit code 143 for it
 * count as a clean exit, as with `SuccessExitStatus=143`.
 */
export function linesOf(ended: Ended | null): string[] {
  const number = ended?.signal ? constants.signals[ended.signal as NodeJS.Signals] : (ended?.code ?? 0)
  const clean =
    ended === null || ended.signal === 'SIGTERM' || (ended.signal === null && (ended.code === 0 || ended.code === 143))
  const result = clean ? 'success' : ended.signal ? 'signal' : 'exit-code'
  return [
    `ActiveState=${clean ? 'inactive' : 'failed'}`,
    `SubState=${clean ? 'dead' : 'failed'}`,
    'MainPID=0',
    `ExecMainStartTimestamp=${ended?.startedAt ?? ''}`,
    `ExecMainExitTimestamp=${ended?.endedAt ?? ''}`,
    `ExecMainCode=${ended ? (ended.signal ? 2 : 1) : 0}`,
    `ExecMainStatus=${number}`,
    `Result=${result}`,
  ]
}
