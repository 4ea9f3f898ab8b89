import { resolve } from 'node:path'
import { AdminError } from '../core/error.ts'
import { labProgram } from './layout.ts'
import { start, stop, supervise, status } from './service-control/control.ts'
import { unitIn } from './service-control/unit.ts'

/**
 * The lab's tiny init system: `start DIR`, `stop DIR`, `status DIR`. DIR holds service.env and machine.json; the
 * service logs to service.log there. `status` prints lines like `systemctl show` and exits with 0 if the service is
 * running, else 3.
 */
async function main(words: readonly string[]): Promise<number> {
  const [verb, directory] = words
  if (directory === undefined)
    throw new AdminError('USAGE', "missing argument: the service's folder", ['service-control start|stop|status DIR'])
  const unit = unitIn(resolve(directory))
  switch (verb) {
    case 'start':
      process.stdout.write(
        `${await start(unit, [...labProgram('lab/service-control.js'), 'supervise', unit.directory])}\n`,
      )
      return 0
    case 'stop':
      process.stdout.write(`${await stop(unit)}\n`)
      return 0
    case 'status': {
      const { running, lines } = await status(unit)
      process.stdout.write(`${lines.join('\n')}\n`)
      return running ? 0 : 3
    }
    case 'supervise':
      await supervise(unit, labProgram('lab/practice-service/main.js'))
      return 0
    default:
      throw new AdminError('USAGE', `unknown command: ${verb ?? '(none)'}`, ['service-control start|stop|status DIR'])
  }
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof AdminError)) throw error
  process.stderr.write(`${[error.message, ...error.suggestions.map((suggestion) => `  ${suggestion}`)].join('\n')}\n`)
  process.exitCode = error.exitCode
}
