import { resolve } from 'node:path'
import { AdminError } from '../../core/error.ts'
import { harmless } from '../../core/harmless.ts'
import { didYouMean } from '../../core/nearest.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { ShellCommand, Suggestion } from '../../core/shell-command.ts'
import { ownCommand, partText } from '../../core/package-parts.ts'
import { flagWords, onDeployment, typed } from '../../core/typed.ts'
import type { TemplateDocument } from '../../output/init.ts'
import type { TemplateFacts, TemplateFile, TemplateName, TemplateOption } from '../../output/templates/facts.ts'
import { templateOptions } from '../../output/templates/facts.ts'
import { cronjobFiles, roleFiles } from '../../output/templates/kubernetes.ts'
import { alertFiles, dashboardFiles, pipelineFiles } from '../../output/templates/monitoring.ts'
import { runbookFiles } from '../../output/templates/runbooks.ts'
import { systemdFiles } from '../../output/templates/systemd.ts'
import type { PlatformName } from '../../core/deployment.ts'
import { traitsOf } from '../../knowledge/platforms.ts'
import type { SelectedDeployment } from '../../runtime/index.ts'
import { chosenDeployment } from '../chosen-deployment.ts'
import { defaultTimeoutSeconds, interruptible } from '../interrupt.ts'
import { initFlags } from './flags.ts'
import type { InitFlags } from './flags.ts'

interface Template {
  /** What it is, for the help */
  about: string
  /** `settings`: the configuration of a deployment; `name`: its name alone */
  needs: 'settings' | 'name' | 'nothing'
  /** Platforms that it is for; omitted: all */
  platforms?: readonly PlatformName[]
  needsNamespace?: true
  options?: readonly TemplateOption[]
  /** It has several files, which are written to a folder only */
  isSeveral?: true
  files: (facts: TemplateFacts) => Promise<readonly TemplateFile[]>
}

/** All templates of `init --template`, by name. */
export const templates: Readonly<Record<string, Template>> = {
  cronjob: {
    about: 'Kubernetes CronJob that runs doctor, with the least rights',
    needs: 'settings',
    platforms: ['kubernetes'],
    needsNamespace: true,
    options: ['image', 'schedule', 'secret'],
    files: cronjobFiles,
  },
  roles: {
    about: 'Kubernetes Roles for diagnosis, for repairs, and on request',
    needs: 'settings',
    platforms: ['kubernetes'],
    needsNamespace: true,
    isSeveral: true,
    files: roleFiles,
  },
  systemd: {
    about: 'systemd service and timer that run doctor on this machine',
    needs: 'settings',
    platforms: ['host', 'compose'],
    options: ['schedule', 'textfile'],
    isSeveral: true,
    files: systemdFiles,
  },
  'github-actions': {
    about: 'GitHub workflow that checks test results',
    needs: 'nothing',
    options: ['results'],
    files: async (facts) => pipelineFiles('github-actions', facts),
  },
  'gitlab-ci': {
    about: 'GitLab job that checks test results',
    needs: 'nothing',
    options: ['results'],
    files: async (facts) => pipelineFiles('gitlab-ci', facts),
  },
  alerts: { about: 'Prometheus alert rules, and their tests', needs: 'name', isSeveral: true, files: alertFiles },
  grafana: { about: 'Grafana dashboard', needs: 'name', files: dashboardFiles },
  check: {
    about: 'a check of your own, to start from',
    needs: 'nothing',
    files: async ({ text }) => [{ name: 'check.mjs', content: text('check.mjs') }],
  },
  configuration: {
    about: 'a commented configuration with every key',
    needs: 'nothing',
    files: async ({ text }) => [{ name: 'testops-admin.yaml', content: text('testops-admin.yaml') }],
  },
  runbooks: { about: 'a Markdown page for each fault', needs: 'settings', isSeveral: true, files: runbookFiles },
} satisfies Readonly<Record<TemplateName, Template>>

/** Flags that say what is rendered and where; `--namespace` completes the configuration */
const ownFlags: readonly string[] = ['namespace', ...templateOptions, 'output']

interface Asked {
  /** Version of this program */
  version: string
  /** -d was typed; else the deployment may come from the environment, which contradicts no template */
  isNamed: boolean
}

/**
 * Renders a template with a deployment's names and writes its files. Throws USAGE for an unknown template, flags that
 * contradict it, and a deployment that it is not for; REFUSED if a file exists; CONFIGURATION, FORBIDDEN, UNAVAILABLE.
 */
export async function runTemplate(
  asked: string,
  flags: InitFlags,
  { version, isNamed }: Asked,
): Promise<TemplateDocument> {
  const template = templateNamed(asked, flags)
  if (template.needs === 'nothing' && isNamed)
    throw new AdminError('USAGE', '-d has no effect: this template is the same for all deployments', [
      rendering(asked, { ...flags, deployment: undefined }),
    ])
  return interruptible(async (signal) => {
    const { templateText, writeAllNew } = await import('../../runtime/init/index.ts')
    const selected = await selectedFor(template, flags, signal)
    const facts = await factsFor(asked, template, { selected, flags, version, signal })
    const files = await template.files(facts).catch((error: unknown) => {
      throw error instanceof AdminError ? withCommand(error, asked, { ...flags, deployment: selected?.name }) : error
    })
    const texts = files.map(({ name, content }) => ({
      name,
      text: typeof content === 'string' ? content : templateText(content),
    }))
    const about = { schemaVersion: 1, template: asked, ...(selected && { deployment: selected.name }) } as const
    if (flags.output === undefined) {
      const [only, ...others] = texts
      if (others.length > 0)
        throw new AdminError('USAGE', `\`${asked}\` has ${texts.length} files: say where to write them`, [
          rendering(asked, { ...flags, deployment: selected?.name }),
        ])
      return { ...about, files: [], text: only!.text }
    }
    return { ...about, files: await writeAllNew(resolve(flags.output), texts) }
  })
}

/**
 * Returns the command that renders a template with these flags. `instead` replaces one of them, or is added. Without a
 * name or a folder that the template needs, the command has a place to fill in.
 */
function rendering(asked: string, flags: InitFlags, instead: Suggestion = ''): ShellCommand {
  const { needs, isSeveral } = templates[asked]!
  const given: InitFlags = { ...(isSeveral && { output: 'DIR' }), ...flags }
  const ofDeployment = needs === 'nothing' ? [] : ['config']
  const all = [...ofDeployment, ...ownFlags].filter((it) => given[it] !== undefined && !instead.startsWith(`--${it} `))
  // its value would be masked like a secret
  const kept = all.filter((it) => it !== 'secret')
  const words = kept.flatMap((it) => flagWords(`--${it}`, String(given[it])))
  const named = needs === 'nothing' ? [] : flagWords('-d', flags.deployment ?? 'NAME')
  const same = typed(['testops-admin', 'init', '--template', asked, ...named, ...words])
  const whole = instead === '' ? same : command`${nested(same)} ${nested(instead)}`
  return kept.length < all.length ? command`${nested(whole)}   # add your --secret` : whole
}

/** Completes suggestions that begin with a flag to whole commands. */
function withCommand(error: AdminError, asked: string, flags: InitFlags): AdminError {
  const { code, message, suggestions, cause, obstacle } = error
  const whole = suggestions.map((it) => (it.startsWith('--') ? rendering(asked, flags, it) : it))
  return new AdminError(code, message, whole, { cause, obstacle })
}

function templateNamed(asked: string, flags: InitFlags): Template {
  const names = Object.keys(templates)
  const template = Object.hasOwn(templates, asked) ? templates[asked] : undefined
  if (!template) {
    const hint = didYouMean(asked, names)
    throw new AdminError(
      'USAGE',
      `no template \`${asked.slice(0, 100)}\`; ${hint ?? `the templates are ${names.join(', ')}`}`,
      ['testops-admin init --help   # lists the templates'],
    )
  }
  const given = Object.keys(initFlags).filter((flag) => flags[flag] !== undefined)
  const unusable = given.find(
    (flag) => String(flags[flag]).trim() === '' || flags[flag] !== harmless(String(flags[flag])),
  )
  if (unusable !== undefined)
    throw new AdminError('USAGE', `--${unusable} is empty, or contains a character that cannot be displayed`)
  const wrong = given.find((flag) => flag !== 'template' && !ownFlags.includes(flag))
  if (wrong !== undefined)
    throw new AdminError('USAGE', `--${wrong} describes a new configuration, but --template uses a finished one`, [
      rendering(asked, flags),
    ])
  const idle = given.find(
    (flag) =>
      (templateOptions as readonly string[]).includes(flag) &&
      !(template.options as readonly string[] | undefined)?.includes(flag),
  )
  if (idle !== undefined) {
    const users = names.filter((name) => (templates[name]!.options as readonly string[] | undefined)?.includes(idle))
    throw new AdminError('USAGE', `--${idle} has no effect on template \`${asked}\`, only on ${users.join(', ')}`, [])
  }
  if (flags.namespace !== undefined && template.needsNamespace !== true)
    throw new AdminError('USAGE', `--namespace has no effect on template \`${asked}\``, [])
  return template
}

/** Returns the deployment that a template is for; null if it needs none, or only a name that a flag gives. */
async function selectedFor(
  { needs }: Template,
  flags: InitFlags,
  signal: AbortSignal,
): Promise<SelectedDeployment | null> {
  if (needs === 'nothing') return null
  const { findConfiguration, isOfLab } = await import('../../runtime/index.ts')
  const around = { environment: process.env, workingDirectory: process.cwd(), file: configOf(flags) }
  const { deployment: name } = flags
  if (needs === 'name' && name !== undefined && !isOfLab(name) && (await findConfiguration(around)) === null) {
    const { problemOfName } = await import('../../runtime/init/index.ts')
    const problem = problemOfName(name)
    if (problem !== null) throw new AdminError('USAGE', `the name in -d ${problem}`)
    return { name, settings: {}, file: '' }
  }
  return chosenDeployment({ deployment: flags.deployment, config: configOf(flags) }, signal)
}

const configOf = ({ config }: InitFlags): string | undefined => (typeof config === 'string' ? config : undefined)

interface Around {
  selected: SelectedDeployment | null
  flags: InitFlags
  version: string
  signal: AbortSignal
}

async function factsFor(
  asked: string,
  template: Template,
  { selected, flags, version, signal }: Around,
): Promise<TemplateFacts> {
  const {
    certificatesIn,
    isCalendarEvent,
    movedConfiguration,
    platformOf,
    serviceCommandsOf,
    templateSource,
    templateText,
  } = await import('../../runtime/init/index.ts')
  const platform = selected === null || template.needs !== 'settings' ? 'host' : platformOf(selected)
  const { platforms = [platform] } = template
  const name = selected?.name ?? ''
  const named = { ...flags, deployment: selected?.name }
  if (!platforms.includes(platform))
    throw new AdminError(
      'USAGE',
      `template \`${asked}\` is for platform ${platforms.join(' or ')}, but \`${name}\` is on platform ${platform}`,
      Object.keys(templates)
        .filter((it) => templates[it]!.platforms?.includes(platform))
        .map((it) => rendering(it, { json: flags.json, deployment: name, config: flags['config'] })),
    )
  const file = configOf(flags)
  const namespace = flags.namespace ?? selected?.settings.kubernetes?.namespace ?? ''
  if (template.needsNamespace === true && namespace === '')
    throw new AdminError('USAGE', `the namespace of \`${name}\` is unknown: its configuration names none`, [
      rendering(asked, named, '--namespace NAMESPACE'),
      'kubectl get namespaces',
    ])
  if (typeof flags.namespace === 'string') {
    const { problemAt } = await import('../../runtime/init/index.ts')
    const problem = problemAt(['kubernetes', 'namespace'], flags.namespace)
    if (problem !== null) throw new AdminError('USAGE', `--namespace ${problem}`)
  }
  return {
    name,
    // what is rendered is read and run in other folders
    flags: onDeployment(name, file && resolve(file)),
    platform,
    groups: traitsOf({ platform }).groups,
    namespace: typeof namespace === 'string' ? namespace : '',
    version,
    program: ownCommand(),
    options: Object.fromEntries(templateOptions.flatMap((it) => (flags[it] === undefined ? [] : [[it, flags[it]]]))),
    moved: (rules) => movedConfiguration(selected!, rules),
    certificates: certificatesIn,
    isCalendarEvent: async (times) => isCalendarEvent(times, signal),
    commands: async () =>
      serviceCommandsOf(selected!, {
        timeoutMs: (flags.timeout ?? defaultTimeoutSeconds) * 1000,
        environment: process.env,
        signal,
      }),
    yaml: (value) => templateText([{ about: [], value }]),
    source: templateSource,
    text: (path) => partText(`templates/${path}`),
  }
}
