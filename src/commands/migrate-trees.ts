import { Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { repairFlags } from '../cli/repair/flags.ts'
import { runRepair } from '../cli/repair/run-repair.ts'
import { showPerformed } from '../cli/repair/show.ts'
import { namedItems } from '../cli/trees/named-items.ts'
import { repairs } from '../repairs/index.ts'

export default class MigrateTrees extends BaseCommand {
  static override summary = 'Reload test-case trees in their new structure'
  static override description =
    'Asks the service for the migration of whole projects or of single trees, a few at a time, since each call starts work there. ' +
    'What it answers to each is on record: a run that is interrupted is gone on with by `resume`, which asks for what is left. ' +
    'One that is refused keeps none of the others; where several in a row fail since the service does not take them, the run stops. ' +
    'There is no undo: trees are cleared and loaded anew.\n\n' +
    'Ends with 0 when all were accepted, 1 where one was refused, or with --wait where a job failed, was stopped or was cancelled, 4 when not confirmed, ' +
    '6 when stopped before all were asked for, or before the jobs were over or while they could not be seen any more.'
  static override examples = [
    { description: 'show what would be done', command: '<%= config.bin %> migrate-trees --all-projects --dry-run' },
    { description: 'all trees of three projects, in a runbook', command: '<%= config.bin %> migrate-trees --project 1 2 3 -d prod --confirm prod' },
    { description: 'two trees, until the service is done with them', command: '<%= config.bin %> migrate-trees --tree 1/12 1/13 --wait' },
    { description: 'what a file names, one PROJECT or PROJECT/TREE a line', command: '<%= config.bin %> migrate-trees --from-file trees.txt' },
  ]
  static override flags = {
    ...repairFlags,
    project: Flags.string({ summary: 'Reload all trees of these projects', helpValue: 'ID', multiple: true }),
    tree: Flags.string({ summary: 'Reload these trees', helpValue: 'PROJECT/TREE', multiple: true }),
    'from-file': Flags.string({ summary: 'Read one PROJECT or PROJECT/TREE per line; - is standard input and needs --confirm', helpValue: 'FILE' }),
    'all-projects': Flags.boolean({ summary: 'Reload every project that the service lists, with one call per project', exclusive: ['project', 'tree', 'from-file'] }),
    'all-trees': Flags.boolean({ summary: 'Reload every tree of the named projects, or of all, with one call per tree' }),
    concurrency: Flags.integer({ summary: 'Make at most this many calls at a time', helpValue: 'N', min: 1, max: 64, default: 4 }),
    wait: Flags.boolean({ summary: 'Wait until the service has finished its migration jobs' }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(MigrateTrees)
    const { 'all-projects': allProjects = false, 'all-trees': allTrees = false, concurrency, wait = false } = flags
    const named = { projects: flags.project ?? [], trees: flags.tree ?? [], file: flags['from-file'], all: allProjects || allTrees }
    const options = { items: await namedItems(named), allProjects, allTrees, concurrency, wait }
    const wish = { repair: repairs['migrate-trees'], options, words: process.argv.slice(2), version: this.config.version }
    showPerformed(await runRepair(flags, wish), flags)
  }
}
