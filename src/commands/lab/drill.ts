import { Flags } from '@oclif/core'
import { BaseCommand } from '../../cli/base-command.ts'
import { withLab } from '../../cli/lab.ts'
import { drill } from '../../lab/drill.ts'
import { labDrillText } from '../../output/lab.ts'
import type { LabDrillDocument } from '../../output/lab.ts'

const names = ['answer', 'done', 'give-up', 'history']
const alone = (own: string): string[] => names.filter((name) => name !== own)

export default class LabDrill extends BaseCommand {
  static override summary = 'Practise: break the lab in a way that is not named'
  static override description =
    'Breaks the healthy lab, and takes the time until you name the root cause and until doctor is healthy. Then it ' +
    'shows what was broken, and the quickest way to mend it. While a drill is under way, the command without flags ' +
    'shows where it stands. Drills have only faults that you can mend with documented commands.\n\n' +
    'Exit 2 for a wrong answer. If doctor is not healthy yet, --done exits as doctor does, and the drill goes on.'
  static override examples = [
    { description: 'Begin a drill, or show where it stands', command: '<%= config.bin %> lab drill' },
    {
      description: 'Name the root cause by its check',
      command: '<%= config.bin %> lab drill --answer database/changelog-lock',
    },
    { description: 'End the drill once the lab is healthy', command: '<%= config.bin %> lab drill --done' },
    { description: 'Begin a drill with two faults', command: '<%= config.bin %> lab drill --faults 2' },
  ]
  static override flags = {
    answer: Flags.string({
      summary: 'Name a root cause: the check that finds it, or the fault',
      helpValue: 'CHECK',
      exclusive: alone('answer'),
    }),
    done: Flags.boolean({ summary: 'End the drill if doctor finds no problem', exclusive: alone('done') }),
    'give-up': Flags.boolean({
      summary: 'End the drill, show what was broken, and mend the lab',
      exclusive: alone('give-up'),
    }),
    history: Flags.boolean({ summary: 'List past drills, at most 200', exclusive: alone('history') }),
    faults: Flags.option({
      options: ['1', '2'] as const,
      summary: 'Begin a drill with this many faults at once (default 1)',
    })(),
    only: Flags.string({
      summary: 'Begin a drill with faults that a group of checks finds, such as `broker`',
      helpValue: 'GROUP',
    }),
    seed: Flags.integer({
      summary: 'Begin the drill that had this seed again',
      helpValue: 'NUMBER',
      min: 0,
      max: 4_294_967_295,
    }),
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(LabDrill)
    const { exitCode, ...said } = await withLab(
      (message) => this.progress(message),
      (lab) => drill(lab, { ...flags, giveUp: flags['give-up'] }),
    )
    process.exitCode = exitCode
    const document: LabDrillDocument = { schemaVersion: 1, ...said }
    this.show(flags, document, (document, screen) => labDrillText(document, screen))
  }
}
