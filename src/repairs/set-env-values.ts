import { AdminError } from '../core/error.ts'
import { defineRepair } from '../core/repair.ts'
import { typed } from '../core/typed.ts'
import { chartKeys } from '../knowledge/chart.ts'
import { defaultVendor, isSecretSetting, parseBoolean, settingDefaults, settingNames, vendorIn } from '../knowledge/settings.ts'
import { withUpgrade } from './apply/release.ts'
import type { ChartOptions } from './apply/release.ts'
import { applyReads, needed } from './apply/surroundings.ts'
import { assertPath, chooseFile, refuseUmbrella } from './files/choose.ts'
import type { Chosen } from './files/choose.ts'
import { editImpact, editSteps, helmNote } from './files/steps.ts'
import { assertValue, typoNote, wordsOf } from './set-env/change.ts'
import type { SettingWish } from './set-env/change.ts'
import { queuesWouldDiffer } from './set-env/queues.ts'
import { command } from '../core/shell-command.ts'
import type { ShellCommand } from '../core/shell-command.ts'

export interface ValuesOptions {
  settings: readonly SettingWish[]
  /** absolute, in Helm's order: the later wins */
  values: readonly string[]
  /** the file by which the work is known (`fileOf`); absent: a deployment is */
  main?: string
  /** the chart's own keys in an umbrella chart */
  path: readonly string[]
  /** of --apply */
  apply?: ChartOptions
}

/** Sets or removes settings in a chart's values, where Helm hands them to the service; no deployment is needed for it. */
export const setEnvInValues = defineRepair({
  id: 'set-env-values',
  title: "set or remove the service's settings in the chart's values",
  reads: ['files'],
  wants: applyReads,
  async plan({ files, ...sources }, deployment, { settings, values, path: prefix, apply }: ValuesOptions) {
    const chart = apply ? ['-d', deployment.name, '--apply', '--chart', apply.chart, ...(apply.chartVersion === null ? [] : ['--chart-version', apply.chartVersion])] : []
    const below = (key: string): ShellCommand => typed(['testops-admin', 'set-env', ...chart, ...values.flatMap((file) => ['--values', file]), '--path', key, ...settings.flatMap(wordsOf)])
    await assertPath(files, values, prefix, below)
    if (prefix.length === 0) await refuseUmbrella(files, values, [chartKeys.imageName, chartKeys.version, chartKeys.openSettings], below)
    const open = [...prefix, ...chartKeys.openSettings]
    const present = (await Promise.all(values.map(async (file) => files.keys(file, open)))).flat()
    const vendor = vendorIn(present, apply ? deployment.vendor : defaultVendor)
    const names = settingNames(vendor)
    const wishes = settings.map(({ to, secret, ...wish }) => ({ to, secret, name: 'name' in wish ? wish.name : names[wish.known] }))
    const twice = wishes.find(({ name }, index) => wishes.findIndex((it) => it.name === name) !== index)
    if (twice) throw new AdminError('USAGE', `${twice.name} is named twice: once is enough`)

    const chosen: (Chosen & { path: readonly string[]; name: string; to: string | null })[] = []
    for (const { name, to, secret } of wishes) {
      assertValue(name, to, names)
      // the chart's own key makes a setting before `env.open` does, of which the last wins
      const path = name === names.tokenValiditySeconds && !present.includes(name) ? [...prefix, ...chartKeys.tokenValiditySeconds] : [...open, name]
      const it = await chooseFile(files, values, path)
      if (secret || isSecretSetting(name, it.look.text ?? '')) throw inValues(name, it)
      chosen.push({ ...it, path, name, to })
    }
    const wanted = chosen.filter(({ look, to }) => look.text !== to).map(({ file, path, to }) => ({ file, path, to }))
    const isDurable = ({ name, to }: { name: string; to: string | null }): boolean => name === names.rabbitDurable && to !== null
    const durable = wishes.find(isDurable)
    const queues = durable && apply ? await queuesWouldDiffer({ ...sources, service: needed(sources.service) }, deployment, parseBoolean(durable.to!) ?? settingDefaults.rabbitDurable) : {}
    const draft = {
      target: Object.fromEntries([...new Set(chosen.map(({ file }) => file))].map((file, index) => [index === 0 ? 'values' : `values ${index + 1}`, file])),
      impact: editImpact(wanted),
      evidence: chosen.map(({ file, path, look }) => `${file}${look.text === null || look.line === null ? '' : ` line ${look.line}`}: ${path.join('.')}${look.text === null ? ' is not set' : `: ${look.text}`}`),
      notes: [
        ...wishes.flatMap(({ name, to }) => (to === null ? [] : (typoNote(name, vendor, present) ?? []))),
        ...chosen.filter(({ look, to, path }) => look.text === to && to !== null && !look.isText && path.length > prefix.length + 1).map(({ path }) => `${path.join('.')} is no text in the file, and Kubernetes takes nothing else as a setting: put it in quotes`),
        ...(queues.note === undefined ? [] : [queues.note]),
        ...(!apply && wanted.some(({ path }) => path.at(-1) === names.rabbitDurable) ? ['the queues that are there have to fit, or the service fails at them: testops-admin reset-queues makes them'] : []),
        ...(wanted.length === 0 ? [`all is set so already${apply ? ' in the files' : ''}`] : apply ? [] : [helmNote(values)]),
      ],
      risks: queues.risk ? [queues.risk] : [],
      steps: await editSteps(files, wanted),
      verifiedBy: [],
    }
    return apply ? withUpgrade(draft, chosen, values, apply, { sources, deployment }) : draft
  },
})

function inValues(name: string, { file }: Chosen): AdminError {
  return new AdminError('REFUSED', `${name} is a secret, and ${file} is no place for one: nothing was changed`, [
    command`kubectl create secret generic ${name.toLowerCase().replaceAll('_', '-')} --from-file=${name}=FILE   # and have the chart refer to it`,
  ])
}
