import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../cli/base-command.ts'
import { candidatesFor, joinedWords, linesFor, pathIn, scriptFor, shells } from '../cli/completion.ts'
import type { Candidate, KnownCommand, Shell, Values } from '../cli/completion.ts'
import { chosenIn, print } from '../cli/write.ts'

export default class Completion extends BaseCommand {
  static override summary = 'Print the completion script of a shell'
  static override description =
    'With the script, Tab completes commands, flags, checks (also your own), deployments, unfinished runs and more. ' +
    'The script asks testops-admin each time, so it stays right after an upgrade.'
  static override examples = [
    {
      description: 'Complete in this bash; in every bash if you add the line to ~/.bashrc',
      command: 'source <(<%= config.bin %> completion bash)',
    },
    {
      description: 'Complete in this zsh; in every zsh if you add the line to ~/.zshrc, after compinit',
      command: 'source <(<%= config.bin %> completion zsh)',
    },
    {
      description: 'Complete in every fish that starts from now on',
      command: '<%= config.bin %> completion fish > ~/.config/fish/completions/testops-admin.fish',
    },
  ]
  static override args = {
    shell: Args.string({ ignoreStdin: true, required: true, description: 'bash, zsh or fish', options: [...shells] }),
    words: Args.string({ ignoreStdin: true, hidden: true, multiple: true }),
  }
  static override flags = {
    line: Flags.boolean({ hidden: true, summary: 'Complete the last of the words after --' }),
  }

  override async run(): Promise<void> {
    const { flags, args } = await this.parse(Completion)
    const shell = args.shell as Shell
    if (!flags.line) return print(process.stdout, scriptFor(shell))
    // as they were typed: oclif puts words that are there twice side by side
    const typed = this.argv.slice(this.argv.indexOf('--') + 1)
    const words = shell === 'bash' ? joinedWords(typed) : typed
    const commands = Object.values(this.config.commands ?? {}) as unknown as KnownCommand[]
    const candidates = await candidatesFor(words, commands, valuesFor(words)).catch(() => null)
    print(process.stdout, linesFor(shell, candidates ?? [], words.at(-1) ?? ''))
    // the scripts then complete files
    if (candidates === null) process.exitCode = 3
  }
}

/** What is asked only where a line needs it. Tab never shows an error, so what cannot be read has no candidates. */
function valuesFor(words: readonly string[]): Values {
  const environment = process.env
  const typed = chosenIn(words).config.at(-1)
  const file = typed === undefined ? environment.TESTOPS_ADMIN_CONFIG : pathIn(typed, environment.HOME)
  const safe = async (read: () => Promise<readonly Candidate[]>): Promise<readonly Candidate[]> =>
    read().catch(() => [])
  return {
    deployments: async () =>
      safe(async () => {
        const { knownDeployments } = await import('../runtime/index.ts')
        const request = { file, environment, workingDirectory: process.cwd() }
        const { deployments } = await knownDeployments(request, { isSearching: false })
        // `use` writes into a configuration, which the practice deployment is not in
        const usable = deployments.filter(({ source }) => source !== 'lab' || words[0] !== 'use')
        return usable.map(({ name, platform }) => ({ text: name, about: platform ?? 'its entry is wrong' }))
      }),
    checks: async (deployments) =>
      safe(async () => {
        const [{ checkTexts }, { ownCheckFiles }] = await Promise.all([
          import('../../explain/index.yaml'),
          import('../runtime/index.ts'),
        ])
        const request = { file, environment, workingDirectory: process.cwd() }
        const chosen = environment.TESTOPS_ADMIN_DEPLOYMENT
        const names = deployments ?? (chosen === undefined ? null : [chosen])
        const own = await ownCheckFiles(request, names).catch(() => [])
        const all = [...checkTexts, ...own.map(({ id, file: of }) => ({ id, title: of }))]
        const groups = [...new Set(all.map(({ id }) => id.split('/')[0] ?? id))]
        return [
          ...groups.map((text) => ({ text, about: `all checks of ${text}` })),
          ...all.map(({ id, title }) => ({ text: id, about: title })),
        ]
      }),
    rules: async () =>
      safe(async () => {
        const { ruleIds, resultRules } = await import('../knowledge/result-rules.ts')
        return ruleIds.flatMap((id) =>
          ['off', 'warning', 'error'].map((level) => ({ text: `${id}=${level}`, about: resultRules[id].title })),
        )
      }),
    runs: async (deployment) =>
      safe(async () => {
        const { unfinishedRuns } = await import('../runtime/paths.ts')
        const runs = await unfinishedRuns(environment, deployment ?? environment.TESTOPS_ADMIN_DEPLOYMENT ?? null)
        return runs.map((text) => ({ text, about: 'unfinished' }))
      }),
    entries: async () =>
      safe(async () => {
        const { explainTexts } = await import('../knowledge/explain/index.ts')
        return explainTexts.map(({ id, title }) => ({ text: id, about: title }))
      }),
    faults: async () =>
      safe(async () => {
        const { faultRows } = await import('../lab/fault-list.ts')
        return faultRows().map(({ name, title }) => ({ text: name, about: title }))
      }),
  }
}
