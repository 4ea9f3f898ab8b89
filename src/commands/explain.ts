import { Args } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { explainEntries } from '../knowledge/explain/index.ts'
import { searchEntries } from '../knowledge/explain/search.ts'
import type { SearchAnswer } from '../knowledge/explain/search.ts'
import { explainDocument, explainText } from '../output/explain.ts'

/** nothing was found */
const nothingFound = 3

export default class Explain extends BaseCommand {
  static override summary = 'say what a check means, why it fails, how to see it, and what to do'
  static override description =
    'Takes the id of a check, a group of checks such as `broker`, a fault such as `stuck-lock`, or a few words. Without any, ' +
    'lists all. Ends with 3 where it finds nothing.'
  static override examples = [
    '<%= config.bin %> explain database/changelog-lock',
    '<%= config.bin %> explain broker',
    '<%= config.bin %> explain "change log lock" --json',
  ]
  static override args = {
    query: Args.string({ description: 'id of a check, a group of checks, a fault, or words' }),
  }
  // words need no quotes
  static override strict = false

  override async run(): Promise<void> {
    const { argv, flags } = await this.parse(Explain)
    const query = argv.join(' ')
    const everything = { found: explainEntries.map((entry) => ({ entry, score: 1 })), nearest: [] }
    const document = explainDocument(query, query ? await search(query) : everything)
    if (document.entries.length === 0) process.exitCode = nothingFound
    this.show(flags, document, (screen) => explainText(document, screen))
  }
}

async function search(query: string): Promise<SearchAnswer> {
  const answer = searchEntries(query, explainEntries)
  if (answer.found.some(({ score }) => score === 1)) return answer
  // the lab's catalogue is loaded only where no check bears that name
  const { checksByFault } = await import('../lab/fault-list.ts')
  return searchEntries(query, explainEntries, checksByFault())
}
