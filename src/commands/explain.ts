import { Args } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { langFlag, spoken } from '../cli/language.ts'
import { noteIgnored, isPiped, unreadNote } from '../cli/write.ts'
import { readInput } from '../runtime/read-input.ts'
import { explainEntries, explainTexts, inLanguage } from '../knowledge/explain/index.ts'
import { explainSearch } from '../knowledge/explain/search/search.ts'
import { explainDocument, explainText } from '../output/explain.ts'

/** Exit code if nothing was found */
const nothingFound = 3

export default class Explain extends BaseCommand {
  static override summary = 'Explain a fault, a check or a message'
  static override description =
    'Takes the id of a fault, a check or a group of checks. Also takes a message of any length, from a log or the ' +
    'web interface, or a few words in English or Russian. Without an argument, lists everything.\n\n' +
    'If a message contains quotes, $ or backquotes, pipe it in, or run `explain -` and paste it.\n\n' +
    'Exit 3 if nothing matches.'
  static override examples = [
    '<%= config.bin %> explain database/changelog-lock',
    '<%= config.bin %> explain broker',
    '<%= config.bin %> explain "Could not acquire change log lock" --json',
    '<%= config.bin %> explain Не удается установить соединение',
    'tail -n 500 testops.log | <%= config.bin %> explain -',
  ]
  static override args = {
    query: Args.string({ description: 'an id, a message, or words; - for standard input', ignoreStdin: true }),
  }
  // words need no quotes
  static override strict = false
  static override flags = { lang: langFlag() }

  override async run(): Promise<void> {
    const { argv, flags } = await this.parse(Explain)
    await noteIgnored(flags)
    const query = await this.#asked(argv as string[])
    const found =
      query === null
        ? { found: explainEntries.map((entry) => ({ entry, score: 1 })), nearest: [] }
        : explainSearch(explainTexts)(query)
    const translation = flags.json ? null : await spoken(flags.lang)
    const document = explainDocument(query, translation === null ? found : inLanguage(found, translation))
    if (document.entries.length === 0) process.exitCode = nothingFound
    this.show(flags, document, (document, screen) => explainText(document, { ...screen, say: translation?.words }))
  }

  /** Returns the text to explain; null for everything. */
  async #asked(words: readonly string[]): Promise<string | null> {
    const isNamed = words.length === 1 && words[0] === '-'
    if (words.length > 0 && !isNamed) return words.join(' ')
    if (!isNamed) {
      if (isPiped()) this.progress(unreadNote('testops-admin explain'))
      return null
    }
    if (process.stdin.isTTY) this.progress('Paste the message, then press Ctrl-D.')
    return readInput('-', {
      mostBytes: 50_000_000,
      next: ['testops-admin scan-logs FILE   # finds every known message in logs of any size'],
    })
  }
}
