import { Flags } from '@oclif/core'
import type { Config } from '@oclif/core'
import { checks } from '../checks/index.ts'
import type { Check } from '../core/check.ts'
import { BaseCommand, quietFlag } from '../cli/base-command.ts'
import { langFlag, spoken } from '../cli/language.ts'
import { relayFlag } from '../cli/interrupt.ts'
import { examineAs } from '../cli/doctor/examine-as.ts'
import type { DoctorFlags } from '../cli/doctor/examine-as.ts'
import type { FixFlags, PerformRepair } from '../cli/doctor/fix.ts'
import type { Fix } from '../cli/doctor/fix-steps.ts'
import type { CommandOf } from '../cli/doctor/rights.ts'
import { documentFormats, formats, isForPrograms } from '../cli/doctor/print.ts'
import { selectChecks } from '../cli/doctor/session.ts'
import type { FromFlags } from '../cli/report/read.ts'
import type { RepairCommand } from '../cli/repair/repair-command.ts'

type FleetFlags = Omit<DoctorFlags, 'deployment'>

type RepairClass = new (argv: string[], config: Config) => RepairCommand

const repairing: Readonly<Record<Fix, () => Promise<{ default: RepairClass }>>> = {
  'flush-sessions': () => import('./flush-sessions.ts'),
  'migrate-trees': () => import('./migrate-trees.ts'),
  'reset-queues': () => import('./reset-queues.ts'),
  resume: () => import('./resume.ts'),
  'service-restart': () => import('./service/restart.ts'),
  'service-start': () => import('./service/start.ts'),
  'set-env': () => import('./set-env.ts'),
  'unlock-changelog': () => import('./unlock-changelog.ts'),
  'use-legacy-image': () => import('./use-legacy-image.ts'),
}

export default class Doctor extends BaseCommand {
  static override summary = 'Find what is wrong with a deployment'
  static override description =
    'Runs all checks at once and separates causes from consequences. Changes nothing without --fix.\n\n' +
    '--fix repairs one cause after another. Each repair shows its plan and asks before it changes anything. --fix ' +
    'never accepts a risk, adopts a run or discards a record: if that is needed, it stops with exit code 4 and shows ' +
    'the command. If a repair fails, --fix stops with its exit code. With --dry-run, it exits as without --fix.\n\n' +
    'Exit 0 if the deployment is healthy, 1 for a problem, 2 for warnings only, 3 if something could not be checked, ' +
    '6 if interrupted, 64 for wrong usage or configuration.'
  static override examples = [
    { description: 'Examine the configured deployment', command: '<%= config.bin %> doctor' },
    {
      description: 'Examine the practice deployment, but skip two checks',
      command: '<%= config.bin %> doctor -d lab --skip api/latency service/clocks',
    },
    {
      description: 'Examine only the broker, and print JSON for a script',
      command: '<%= config.bin %> doctor --only broker --json',
    },
    { description: 'Repair what is wrong, step by step', command: '<%= config.bin %> doctor --fix' },
    {
      description: 'In a runbook, carry out two repairs without asking for confirmation',
      command: '<%= config.bin %> doctor -d prod --fix --confirm prod --repairs unlock-changelog,service-start',
    },
    {
      description: 'After a restart, wait until the deployment is healthy',
      command: '<%= config.bin %> doctor --wait --wait-seconds 600',
    },
  ]
  // oclif's types let no command have one flag of the base class several times
  static override baseFlags = {
    ...BaseCommand.baseFlags,
    deployment: Flags.string({
      char: 'd',
      summary: 'Choose the deployment; several -d examine several; `lab` is the practice deployment',
      helpValue: 'NAME',
      env: 'TESTOPS_ADMIN_DEPLOYMENT',
      helpGroup: 'COMMON',
      multiple: true,
      multipleNonGreedy: true,
    }),
  } as unknown as typeof BaseCommand.baseFlags
  static override flags = {
    all: Flags.boolean({
      summary: 'Examine all deployments of the configuration at once',
      exclusive: ['wait', 'watch', 'fix', 'from', 'relay'],
    }),
    only: Flags.string({
      summary: 'Run only these checks; a group such as `broker` means all its checks',
      helpValue: 'ID',
      multiple: true,
      delimiter: ',',
    }),
    skip: Flags.string({ summary: 'Skip these checks', helpValue: 'ID', multiple: true, delimiter: ',' }),
    'fail-on': Flags.option({
      options: ['warning', 'error', 'unknown'] as const,
      summary:
        'Choose the exit codes: `warning` = 1 for errors, 2 for warnings, 3 if something could not be checked; ' +
        '`error` = 1 for errors, otherwise 0; `unknown` = as `warning`, but 1 instead of 3',
      default: 'warning',
    })(),
    format: Flags.option({
      options: [...formats, ...documentFormats],
      summary: 'Choose the output format; `json` is the same as --json',
      default: 'table',
    })(),
    lang: langFlag(),
    output: Flags.string({
      summary:
        'Also write the report to FILE, in the format of its ending: .md, .html, .xml (JUnit), .prom (Prometheus), ' +
        '.json or .txt',
      helpValue: 'FILE',
      multiple: true,
      multipleNonGreedy: true,
      exclusive: ['watch', 'fix'],
    }),
    wait: Flags.boolean({
      summary: 'Repeat the checks until the exit code is 0, for at most --wait-seconds',
      exclusive: ['watch'],
    }),
    'wait-seconds': Flags.integer({
      summary: 'Stop --wait after this time',
      helpValue: 'SECONDS',
      min: 1,
      default: 300,
    }),
    watch: Flags.boolean({ summary: 'Repeat the checks until Ctrl-C, then exit with the code of the last report' }),
    relay: relayFlag,
    from: Flags.string({
      summary: 'Examine what `report` saved in FILE, without a network',
      helpValue: 'FILE',
      exclusive: ['wait', 'watch', 'fix', 'relay'],
    }),
    fix: Flags.boolean({ summary: 'Repair the problems, one after another', exclusive: ['watch', 'wait'] }),
    'dry-run': Flags.boolean({ summary: 'With --fix: show all plans and change nothing', dependsOn: ['fix'] }),
    'fix-warnings': Flags.boolean({ summary: 'With --fix: repair warnings too', dependsOn: ['fix'] }),
    confirm: Flags.string({
      summary: "With --fix: confirm --repairs in advance, without a prompt: NAME is the deployment's name",
      helpValue: 'NAME',
      dependsOn: ['fix', 'repairs'],
    }),
    repairs: Flags.option({
      options: Object.keys(repairing) as Fix[],
      summary: 'With --confirm: the only repairs that may be carried out',
      helpValue: 'ID',
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
      dependsOn: ['fix', 'confirm'],
    })(),
    interval: Flags.integer({
      summary: 'With --wait or --watch: pause this long between checks',
      helpValue: 'SECONDS',
      min: 1,
      default: 5,
    }),
    ...quietFlag,
  }

  override async run(): Promise<void> {
    const { flags: parsed, raw } = await this.parse(Doctor)
    const names = ([] as string[]).concat(parsed.deployment ?? [])
    const given = raw.flatMap((token) => (token.type === 'flag' ? [token.flag] : []))
    // a watch prints no document: a wish for one from the environment is meant for other commands
    const json = parsed.json && (!parsed.watch || given.includes('json'))
    const isTold = parsed.output !== undefined || !(json || isForPrograms(parsed.format))
    const translation = isTold ? await spoken(parsed.lang) : null
    const flags = { ...parsed, json, deployment: names[0], translation }
    const chosen = selectChecks(checks, flags.only ?? [], flags.skip ?? [])
    const isFleet = flags.all || new Set(names).size > 1
    const exitCode = isFleet
      ? await this.examineFleet(flags, flags.all ? null : names, chosen, given)
      : flags.from !== undefined
        ? await this.examineSaved({ ...flags, from: flags.from }, chosen, given)
        : flags.fix
          ? await this.repairAll(flags, chosen)
          : await examineAs({ ...flags, commandOf: commandsBy(this.config) }, chosen)
    // already set if the report could not be written
    process.exitCode ??= exitCode
  }

  private async examineFleet(
    flags: FleetFlags,
    names: readonly string[] | null,
    chosen: readonly Check[],
    given: readonly string[],
  ): Promise<number> {
    const { assertFleet, examineFleet } = await import('../cli/doctor/fleet.ts')
    assertFleet(given)
    return examineFleet(flags, names, chosen)
  }

  private async examineSaved(flags: FromFlags, chosen: readonly Check[], given: readonly string[]): Promise<number> {
    const { assertAlone, examineReport } = await import('../cli/report/read.ts')
    assertAlone(given)
    return examineReport(flags, chosen)
  }

  private async repairAll(flags: FixFlags, chosen: readonly Check[]): Promise<number> {
    const { fix } = await import('../cli/doctor/fix.ts')
    const commandOf = commandsBy(this.config)
    const json = flags.json || flags.format === 'json'
    return fix({ ...flags, commandOf, json }, chosen, repairWith(commandOf), process.argv.slice(2))
  }
}

/** Runs the command of a repair in this process, as if it had been typed. */
function repairWith(commandOf: CommandOf): PerformRepair {
  return async (fix, words, others = []) => {
    const command = await commandOf(fix, words)
    command.others = others
    return (await command.repair()).result
  }
}

/** Returns what makes the command of a repair, as if its words had been typed. */
export function commandsBy(config: Config): CommandOf {
  return async (fix, words) => {
    const { default: Repair } = await repairing[fix]()
    const command = new Repair(words.slice(fix.startsWith('service-') ? 2 : 1), config)
    command.words = words
    return command
  }
}
