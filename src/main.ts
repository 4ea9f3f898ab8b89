import { Config, run } from '@oclif/core'
import { helpWords, unknownCommand } from './cli/command-names.ts'
import { failureOf } from './cli/failure.ts'
import { jsonText, wantsJson } from './cli/json.ts'
import { screenOf } from './cli/screen.ts'
import { errorText } from './output/error-text.ts'

const program = 'testops-admin'

/** Runs the command that the words name, and turns whatever it throws into a message and an exit code. */
export async function main(words: readonly string[] = process.argv.slice(2)): Promise<void> {
  const crashed = new Promise<never>((_, reject) => {
    process.once('uncaughtException', reject)
    process.once('unhandledRejection', reject)
  })
  // whoever reads may stop at any time, as `head` does
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  }
  try {
    await Promise.race([start(helpWords(words)), crashed])
  } catch (thrown) {
    report(thrown, wantsJson(words))
  }
}

async function start(words: string[]): Promise<void> {
  const config = await Config.load(import.meta.url)
  const unknown = unknownCommand(words, config.commandIDs, program)
  if (unknown) throw unknown
  await run(words, config)
}

function report(thrown: unknown, json: boolean): void {
  const failure = failureOf(thrown, program)
  if (!failure) return
  process.exitCode = failure.exitCode
  if (failure.stack) process.stderr.write(`${failure.stack}\n`)
  if (json) process.stdout.write(jsonText(failure.document))
  else process.stderr.write(errorText(failure.document, screenOf(process.stderr)))
}
