import { fileURLToPath } from 'node:url'
import { Config, Plugin } from '@oclif/core'
import { lookUpLikeThis } from './adapters/look-up.ts'
import { readWords } from './cli/command-names.ts'
import { failureOf, inOwnWords, isOutput } from './cli/failure.ts'
import { OwnHelp, helpIn, spoken, withoutLang } from './cli/language.ts'
import {
  beforeDashes,
  dropHeld,
  guardStream,
  holdBack,
  jsonText,
  print,
  quietStreams,
  releaseHeld,
  screenOf,
  tellLine,
  wantsJson,
} from './cli/write.ts'
import { commands } from './commands/index.ts'
import { AdminError, codeOf } from './core/error.ts'
import { partText } from './core/package-parts.ts'
import { errorText, stackText } from './output/error-text.ts'
import { typed } from './core/typed.ts'

export { commands }
export { offerThread } from './logs/scan/spare-thread.ts'

const program = 'testops-admin'

/** Runs the command that the words name, and turns anything it throws into a message and an exit code. */
export async function main(words: readonly string[] = process.argv.slice(2)): Promise<void> {
  guardStream(process.stderr)
  lookUpLikeThis()
  const crashed = new Promise<never>((_, reject) => {
    process.once('uncaughtException', reject)
    process.once('unhandledRejection', reject)
    // otherwise Node would exit silently, with a code of its own
    process.once('beforeExit', () => reject(new Error('the program stopped before the command had finished')))
  })
  const broken = new Set<NodeJS.WritableStream>()
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      // the reader may stop at any time, as `head` does; any other write error is reported once
      const isNews = error.code !== 'EPIPE' && !broken.has(stream)
      broken.add(stream)
      if (isNews) report(error, false)
    })
  }
  try {
    await Promise.race([start(words), crashed])
  } catch (thrown) {
    // oclif listens too, before this program, and throws the error
    if (isOutput(thrown)) broken.add(process.stdout)
    report(thrown, wantsJson(words) && !broken.has(process.stdout))
  }
  if ((process.exitCode ?? 0) === 0) dropHeld()
  else releaseHeld()
  // a full file emits no event once the stream has been written to the end
  const { errored } = process.stdout
  const code = codeOf(errored)
  if (code !== null && code !== 'EPIPE' && !broken.has(process.stdout)) report(errored, false)
}

async function start(words: readonly string[]): Promise<void> {
  // before anything is printed, also by oclif's help
  if (beforeDashes(words).includes('--no-color')) process.env.NO_COLOR = '1'
  // otherwise oclif would run any plugin that a package.json in the user's data folder names, others' too
  const root = fileURLToPath(import.meta.url)
  const config = await Config.load({
    root,
    plugins: new Map([[program, await ownPlugin(root)]]),
    userPlugins: false,
    devPlugins: false,
    jitPlugins: false,
  })
  const isBare = words[0]?.startsWith('--lang') === true && withoutLang(words).rest.length === 0
  const wish = readWords(isBare ? [] : words, Object.keys(commands), program)
  switch (wish.kind) {
    case 'version':
      tellLine(process.stdout, config.userAgent)
      return
    case 'begin': {
      assertFolder()
      const [{ configurationFile }, { beginText }] = await Promise.all([
        import('./runtime/configuration/find.ts'),
        import('./output/init.ts'),
      ])
      const environment = process.env
      const configuration = await configurationFile({ environment, workingDirectory: process.cwd() })
      const translation = await spoken(withoutLang(words).asked)
      print(process.stdout, beginText({ configuration }, { ...screenOf(process.stdout), say: translation?.words }))
      return
    }
    case 'help': {
      const translation = await spoken(withoutLang(words).asked)
      const Help = translation === null ? OwnHelp : helpIn(translation)
      await new Help(config, config.pjson.oclif.helpOptions).showHelp([...wish.names, '--help'])
      return
    }
    case 'command':
      try {
        assertFolder()
        await run(wish.id, wish.rest, config)
      } catch (thrown) {
        throw inOwnWords(thrown, typed([program, ...wish.id.split(':')]), wish.rest)
      }
  }
}

/** Returns this program as oclif's plugin, made from texts: the one file has no folder in which oclif would look. */
async function ownPlugin(root: string): Promise<Plugin> {
  const pjson = JSON.parse(partText('package.json')) as Plugin['pjson']
  const plugin = new Plugin({ root, pjson, isRoot: true, ignoreManifest: true })
  await plugin.load()
  plugin.manifest = JSON.parse(partText('oclif.manifest.json')) as Plugin['manifest']
  // `run` below finds a command's class
  const load = async (): Promise<never> => Promise.reject(new Error('oclif loads no command'))
  plugin.commands = Object.values(plugin.manifest.commands).map((it) => ({
    ...it,
    load,
    pluginAlias: plugin.alias,
    pluginType: plugin.type,
  }))
  return plugin
}

/** Throws UNAVAILABLE if the shell's current folder was removed. */
function assertFolder(): void {
  try {
    process.cwd()
  } catch (error) {
    throw new AdminError('UNAVAILABLE', 'the current folder no longer exists', ['cd'], { cause: error })
  }
}

async function run(id: string, words: string[], config: Config): Promise<void> {
  const found = await commands[id]?.()
  if (!found) throw new Error(`no command ${id}`)
  found.default.id = id
  if (found.default.flags?.['quiet'] !== undefined) holdBack(quietStreams(words))
  await found.default.run(words, config)
}

function report(thrown: unknown, json: boolean): void {
  const failure = failureOf(thrown, program)
  if (!failure) return
  process.exitCode = failure.exitCode
  if (failure.stack) print(process.stderr, stackText(failure.stack))
  if (json) print(process.stdout, jsonText(failure.document))
  else print(process.stderr, errorText(failure.document, screenOf(process.stderr)))
}
