import { Flags } from '@oclif/core'
import { repairFlags } from '../cli/repair/flags.ts'
import { RepairCommand } from '../cli/repair/repair-command.ts'
import type { Repaired } from '../cli/repair/repair-command.ts'
import { namedItems } from '../cli/trees/named-items.ts'
import { repairs } from '../repairs/index.ts'

export default class MigrateTrees extends RepairCommand {
  static override summary = 'Reload test-case trees in their new structure'
  static override description =
    'Asks the service to migrate whole projects or single trees, a few at a time, because each call puts load on ' +
    'the service. Records the answers, so that `resume` makes only the remaining calls. A call that the service ' +
    'refuses does not stop the run, but several failures of the service in a row stop it.\n\n' +
    'There is no undo: the service clears the trees and loads them again.\n\n' +
    'Exit 0 if the service accepted all calls, 1 if it refused a call or if a job failed (with --wait), 4 if not ' +
    'confirmed, 6 if the run stopped early or if jobs are unfinished.'
  static override examples = [
    { description: 'Show the plan', command: '<%= config.bin %> migrate-trees --all-projects --dry-run' },
    {
      description: 'In a runbook, reload all trees of three projects without asking for confirmation',
      command: '<%= config.bin %> migrate-trees --project 1 2 3 -d prod --confirm prod',
    },
    {
      description: 'Reload two trees, and wait until both are done',
      command: '<%= config.bin %> migrate-trees --tree 1/12 1/13 --wait',
    },
    {
      description: 'Reload the trees listed in a file, one PROJECT or PROJECT/TREE per line',
      command: '<%= config.bin %> migrate-trees --from-file trees.txt',
    },
  ]
  static override flags = {
    ...repairFlags,
    project: Flags.string({ summary: 'Reload all trees of these projects', helpValue: 'ID', multiple: true }),
    tree: Flags.string({ summary: 'Reload these trees', helpValue: 'PROJECT/TREE', multiple: true }),
    'from-file': Flags.string({
      summary: 'Read one PROJECT or PROJECT/TREE per line of FILE; - reads standard input and needs --confirm',
      helpValue: 'FILE',
    }),
    'all-projects': Flags.boolean({
      summary: 'Reload every project that the service lists, with one call per project',
      exclusive: ['project', 'tree', 'from-file'],
    }),
    'all-trees': Flags.boolean({
      summary: 'Reload every tree of the named projects, or of all projects, with one call per tree',
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

  override async repair(): Promise<Repaired> {
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
      words: this.words,
      version: this.config.version,
    }
    return { result: await this.perform(flags, wish), flags }
  }
}
