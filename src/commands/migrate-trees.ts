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
    'Asks the service to migrate whole projects or single trees, a few at a time, because each call starts work ' +
    'there. Answers are recorded: `resume` makes the calls that are left. A refused call stops no other. If several ' +
    'calls in a row fail, the run stops.\n\n' +
    'There is no undo: trees are cleared and loaded again.\n\n' +
    'Exit 0 if all calls were accepted, 1 if one was refused or, with --wait, a job failed, 4 if not confirmed, 6 if ' +
    'stopped early or if jobs are not over.'
  static override examples = [
    { description: 'show what would be done', command: '<%= config.bin %> migrate-trees --all-projects --dry-run' },
    {
      description: 'all trees of three projects, in a runbook',
      command: '<%= config.bin %> migrate-trees --project 1 2 3 -d prod --confirm prod',
    },
    {
      description: 'two trees, and wait until they are done',
      command: '<%= config.bin %> migrate-trees --tree 1/12 1/13 --wait',
    },
    {
      description: 'the trees in a file, one PROJECT or PROJECT/TREE per line',
      command: '<%= config.bin %> migrate-trees --from-file trees.txt',
    },
  ]
  static override flags = {
    ...repairFlags,
    project: Flags.string({ summary: 'Reload all trees of these projects', helpValue: 'ID', multiple: true }),
    tree: Flags.string({ summary: 'Reload these trees', helpValue: 'PROJECT/TREE', multiple: true }),
    'from-file': Flags.string({
      summary: 'Read one PROJECT or PROJECT/TREE per line; - is standard input and needs --confirm',
      helpValue: 'FILE',
    }),
    'all-projects': Flags.boolean({
      summary: 'Reload every project that the service lists, with one call per project',
      exclusive: ['project', 'tree', 'from-file'],
    }),
    'all-trees': Flags.boolean({
      summary: 'Reload every tree of the named projects, or of all, with one call per tree',
    }),
    concurrency: Flags.integer({
      summary: 'Make at most this many calls at a time',
      helpValue: 'N',
      min: 1,
      max: 64,
      default: 4,
    }),
    wait: Flags.boolean({ summary: 'Wait until the service has finished its migration jobs' }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(MigrateTrees)
    const { 'all-projects': allProjects = false, 'all-trees': allTrees = false, concurrency, wait = false } = flags
    const named = {
      projects: flags.project ?? [],
      trees: flags.tree ?? [],
      file: flags['from-file'],
      all: allProjects || allTrees,
    }
    const options = { items: await namedItems(named), allProjects, allTrees, concurrency, wait }
    const wish = {
      repair: repairs['migrate-trees'],
      options,
      words: process.argv.slice(2),
      version: this.config.version,
    }
    showPerformed(await runRepair(flags, wish), flags)
  }
}
