import { AdminError } from '../core/error.ts'
import { defineRepair } from '../core/repair.ts'
import { typed } from '../core/typed.ts'
import { chartKeys, ownKeyOf } from '../knowledge/chart.ts'
import { isSecretSetting, parseBoolean, settingDefaults } from '../knowledge/settings.ts'
import { applyReads, installedChart, needed, withUpgrade } from './apply/release.ts'
import type { ChartOptions } from './apply/release.ts'
import { chooseFile, editImpact, editSteps, effectNote, placeOfValues } from './files/layout.ts'
import type { Chosen } from './files/layout.ts'
import { containersOf, effectOfSteps, otherChanges, unknownChart, valuesWith } from './files/known-chart.ts'
import { assertValue, queuesWouldDiffer, typoNote, vendorFlag, vendorToWrite, wordsOf } from './set-env/change.ts'
import type { GivenVendor, SettingWish } from './set-env/change.ts'
import { chartWords } from './use-legacy-image.ts'
import { command } from '../core/shell-command.ts'
import type { ShellCommand, Suggestion } from '../core/shell-command.ts'
import { listed } from '../core/format.ts'
import type { ChartPlace } from '../core/sources.ts'
import type { Effect } from './files/known-chart.ts'

export interface ValuesOptions {
  settings: readonly SettingWish[]
  /** Absolute paths, in Helm's order: the later wins */
  values: readonly string[]
  /** The file that identifies the work (`fileOf`); absent: a deployment does */
  main?: string
  /** Keys above the chart's own values in an umbrella chart */
  path: readonly string[]
  /** What --apply needs */
  apply?: ChartOptions
  /** The chart of --chart, without --apply */
  chart?: ChartOptions
  /** From flags, and from the deployment that -d names */
  vendor?: GivenVendor
}

/** Sets or removes settings in a chart's values, from which Helm passes them to the service. Needs no deployment. */
export const setEnvInValues = defineRepair({
  id: 'set-env-values',
  title: "set or remove the service's settings in the chart's values",
  reads: ['files'],
  wants: applyReads,
  async plan(
    { files, ...sources },
    deployment,
    { settings, values, path, apply, chart: named, vendor: given }: ValuesOptions,
  ) {
    const chart = (apply && (await installedChart(apply, { sources, deployment }))) ?? named ?? null
    const again = (...more: string[]): ShellCommand => {
      const before = [
        ...(apply ? [['-d', deployment.name], ['--apply']] : []),
        ...chartWords(apply ?? named),
        ...values.map((file) => ['--values', file]),
        ...(path.length > 0 ? [['--path', path.join('.')]] : []),
      ]
      return typed([
        'testops-admin',
        'set-env',
        ...before.filter(([flag]) => !more.includes(flag!)).flat(),
        ...more,
        ...settings.flatMap(wordsOf),
        ...vendorWords(given),
      ])
    }
    const place = await placeOfValues(files, {
      files: values,
      path,
      keys: [chartKeys.openSettings],
      applies: apply !== undefined,
      again: (it) => again('--path', it),
    })
    const known = { files: values, place }
    const open = [...place.own, ...chartKeys.openSettings]
    const present = (await Promise.all(values.map(async (file) => files.keys(file, open)))).flat()
    const rendered = chart && containersOf(await files.rendered(chart, valuesWith(known, [])))
    const names = [
      ...(await Promise.all(values.map(async (file) => files.names(file)))).flat(),
      ...(rendered ?? []).flatMap(({ environment }) => [...environment.keys()]),
      ...(apply ? (await needed(sources.service).environment()).keys() : []),
    ]
    const isOfOwnKey = (wish: SettingWish): boolean =>
      'known' in wish &&
      wish.known === 'tokenValiditySeconds' &&
      !present.some((name) => name.endsWith('_JWT_ACCESS_TOKEN_VALIDITY_SECONDS'))
    const lookedIn = [
      ...values,
      ...(chart ? [`chart ${chart.chart}`] : []),
      ...(apply ? [`the settings of ${deployment.name}`] : []),
    ].join(', ')
    const next = (part: keyof GivenVendor): Suggestion[] => [
      vendorFlag[part],
      ...(chart ? [] : [again('--chart', 'CHART')]),
      ...(apply ? [] : ['-d NAME   # also looks in the settings of deployment NAME']),
    ]
    const { vendor, names: own } = vendorToWrite(
      settings.filter((wish) => !isOfOwnKey(wish)),
      { given, deployment, names, lookedIn, next },
    )
    const wishes = settings.map(({ to, secret, ...wish }) => ({
      to,
      secret,
      name: 'name' in wish ? wish.name : own[wish.known],
    }))
    const twice = wishes.find(({ name }, index) => wishes.findIndex((it) => it.name === name) !== index)
    if (twice) throw new AdminError('USAGE', `${twice.name} appears twice. Each setting may appear only once`)

    const chosen: (Chosen & { path: readonly string[]; name: string; to: string | null })[] = []
    for (const { name, to, secret } of wishes) {
      assertValue(name, to, own)
      // the chart renders a setting from its own key before those in `env.open`, and the last one wins
      const key = present.includes(name) ? null : ownKeyOf(name, own)
      const isRendered = rendered?.some(({ environment }) => environment.has(name)) ?? key !== null
      if (rendered && chart && isRendered && key === null && !present.includes(name)) throw refuseTwice(name, chart)
      const at = isRendered && key !== null ? [...place.own, ...key] : [...open, name]
      const it = await chooseFile(files, values, at)
      if (secret || isSecretSetting(name, it.look.text ?? '')) throw inValues(name, it)
      chosen.push({ ...it, path: at, name, to })
    }
    const wanted = chosen.filter(({ look, to }) => look.text !== to).map(({ file, path, to }) => ({ file, path, to }))
    const steps = await editSteps(files, wanted)
    const effect = chart && (await effectOfSteps(files, chart, known, steps))
    if (chart && effect)
      refuseOtherSettings(
        effect,
        chosen.filter(({ look, to }) => look.text !== to),
        chart,
      )
    const keyOf = (it: readonly string[]): readonly string[] =>
      it.length > open.length ? chartKeys.openSettings : it.slice(place.own.length)
    const added = chosen.filter(({ look, to }) => to !== null && look.text !== to).map((it) => keyOf(it.path))
    const chartRisk =
      chart === null ? await unknownChart(files, known, added, again) : effect && otherChanges(chart, effect.others)
    const isDurable = ({ name, to }: { name: string; to: string | null }): boolean =>
      name === own.rabbitDurable && to !== null
    const durable = wishes.find(isDurable)
    const queues =
      durable && apply
        ? await queuesWouldDiffer(
            { ...sources, service: needed(sources.service) },
            deployment,
            parseBoolean(durable.to!) ?? settingDefaults.rabbitDurable,
          )
        : {}
    const draft = {
      target: Object.fromEntries(
        [...new Set(chosen.map(({ file }) => file))].map((file, index) => [
          index === 0 ? 'values' : `values ${index + 1}`,
          file,
        ]),
      ),
      impact: editImpact(wanted),
      evidence: chosen.map(
        ({ file, path: at, look }) =>
          `${file}${look.text === null || look.line === null ? '' : ` line ${look.line}`}: ` +
          `${at.join('.')}${look.text === null ? ' is not set' : `: ${look.text}`}`,
      ),
      notes: [
        ...wishes.flatMap(({ name, to }) => (to === null ? [] : (typoNote(name, vendor, present) ?? []))),
        ...chosen
          .filter(
            ({ look, to, path: at }) => look.text === to && to !== null && !look.isText && at.length > open.length,
          )
          .map(
            ({ path: at }) =>
              `${at.join('.')} is not text in the file, but Kubernetes accepts only text. Put the value in quotes`,
          ),
        ...(queues.note === undefined ? [] : [queues.note]),
        ...(!apply && wanted.some(({ path: at }) => at.at(-1) === own.rabbitDurable)
          ? [
              'if the existing queues do not match this setting, the service fails to declare them. To change ' +
                'the queues: testops-admin reset-queues',
            ]
          : []),
        ...(wanted.length === 0
          ? [`all settings already have the requested values${apply ? ' in the files' : ''}`]
          : apply
            ? []
            : [effectNote(values, place)]),
      ],
      risks: [queues.risk ?? null, chartRisk].filter((risk) => risk !== null),
      steps,
      verifiedBy: [],
    }
    return apply ? withUpgrade(draft, chosen, values, apply, { sources, deployment }) : draft
  },
})

function vendorWords(given: GivenVendor | undefined): string[] {
  return [
    ...(given?.prefix === undefined ? [] : ['--vendor-prefix', given.prefix]),
    ...(given?.package === undefined ? [] : ['--vendor-package', given.package]),
  ]
}

function inValues(name: string, { file }: Chosen): AdminError {
  return new AdminError('REFUSED', `${name} is a secret and does not belong in ${file}. Nothing was changed`, [
    command`kubectl create secret generic ${name.toLowerCase().replaceAll('_', '-')} --from-file=${name}=FILE   # then
      make the chart use this Secret`,
  ])
}

/**
 * Throws REFUSED if a setting would not appear exactly once with its requested value, or if another setting or an image
 * would change.
 */
function refuseOtherSettings(
  { settings, images }: Effect,
  wanted: readonly { name: string; to: string | null; path: readonly string[] }[],
  { chart }: ChartPlace,
): void {
  for (const { name, to, path } of wanted) {
    const changed = settings.filter((it) => it.name === name)
    if (changed.length === 0)
      throw new AdminError(
        'REFUSED',
        `in chart ${chart}, ${path.join('.')} has no effect on ${name}, so this setting would not change. Nothing ` +
          'was changed',
        ['--chart CHART   # if the values files belong to another chart'],
      )
    if (to === null) continue
    const odd = changed.find(({ is, times }) => is !== to || times !== 1)
    if (odd)
      throw new AdminError(
        'REFUSED',
        `with the new values, chart ${chart} would set ${name} ` +
          `${odd.times === 1 ? 'to a value other than the requested one' : `${odd.times} times`} (${odd.at}). ` +
          'Nothing was changed',
        ['--chart CHART   # if the values files belong to another chart'],
      )
  }
  const others = [
    ...images,
    ...settings
      .filter(({ name }) => !wanted.some((it) => it.name === name))
      .map(({ at, name }) => ({ at: `${at}, ${name}` })),
  ].map(({ at }) => at)
  if (others.length === 0) return
  throw new AdminError(
    'REFUSED',
    `with the new values, chart ${chart} would also change other settings or images: ${listed(others, 5)}. ` +
      'Nothing was changed',
    ['--chart CHART   # if the values files belong to another chart'],
  )
}

/** Returns the error for a setting that the chart renders itself, from a key that this program does not know. */
function refuseTwice(name: string, { chart }: ChartPlace): AdminError {
  return new AdminError(
    'REFUSED',
    `chart ${chart} already sets ${name}. An entry in env.open would set it twice. Nothing was changed`,
    ["find the key of this setting in the chart's templates, and set that key"],
  )
}
