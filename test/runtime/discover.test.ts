import { expect, test } from 'vitest'
import { AdminError } from '../../src/core/error.ts'
import type { Finder, Found } from '../../src/platforms/index.ts'
import { discover } from '../../src/runtime/discover.ts'
import type { Discovery } from '../../src/runtime/discover.ts'
import { selectDiscovered } from '../../src/runtime/configuration/select.ts'
import { findDeployment, machinesOf } from '../../src/runtime/index.ts'
import { composeWorld, projectFiles, recorded } from '../platforms/compose/world.ts'
import { folderWith } from './folder.ts'

const request = { environment: {}, workingDirectory: '/work/here' }
const unit: Found = {
  name: 'testops',
  what: 'systemd unit `testops.service`',
  place: { platform: 'host', unit: 'testops' },
}
const project: Found = {
  name: 'testops',
  what: 'compose project `testops`',
  place: { platform: 'compose', project: 'testops', service: 'web', file: null },
}
const release: Found = {
  name: 'prod',
  what: 'release `prod`',
  place: { platform: 'kubernetes', context: 'c', namespace: 'n', release: 'prod' },
}
const finder =
  (...found: Found[]): Finder =>
  async () => ({ found, looked: 'nothing here' })

test(
  'what each platform shows, as a configuration would say it; ' + 'names that are there twice are told apart',
  async () => {
    expect(await discover(request, [finder(unit), finder(project), finder(release)])).toEqual({
      found: [
        {
          name: 'testops-host',
          what: unit.what,
          settings: { platform: 'host', host: { unit: 'testops' } },
          file: '/work/here/testops-admin.yaml',
        },
        {
          name: 'testops-compose',
          what: project.what,
          settings: { platform: 'compose', compose: { project: 'testops', service: 'web' } },
          file: '/work/here/testops-admin.yaml',
        },
        {
          name: 'prod',
          what: release.what,
          settings: { platform: 'kubernetes', kubernetes: { context: 'c', namespace: 'n', release: 'prod' } },
          file: '/work/here/testops-admin.yaml',
        },
      ],
      looked: [],
      unseen: [],
      next: [],
    })
  },
)

test('a platform that cannot be asked says why, and keeps no other from being found', async () => {
  const failing: Finder = async () => {
    throw new AdminError('FORBIDDEN', 'this user may not ask docker')
  }
  expect(await discover(request, [failing, finder(), finder(release)])).toMatchObject({
    found: [{ name: 'prod' }],
    looked: ['this user may not ask docker', 'nothing here'],
  })
})

test('what helps to ask comes first where nothing was found', async () => {
  const expired: Finder = async () => {
    throw new AdminError('UNAUTHENTICATED', 'the cluster does not accept the credentials', [
      'kubectl --context prod auth whoami',
    ])
  }
  const found = await discover(request, [finder(), expired])
  const error = await selectDiscovered(found, { ...request, name: undefined }).catch((thrown: unknown) => thrown)
  expect((error as AdminError).suggestions[0]).toBe('kubectl --context prod auth whoami')
})

test('an interruption ends it', async () => {
  const interrupted: Finder = async () => {
    throw new AdminError('INTERRUPTED', 'interrupted')
  }
  await expect(discover(request, [interrupted])).rejects.toThrow('interrupted')
})

test('each is given a short time, and all look at once', async () => {
  const begun: number[] = []
  const slow: Finder = async ({ timeoutMs }) => {
    begun.push(timeoutMs)
    await new Promise((resolve) => setTimeout(resolve, 20))
    return { found: [], looked: `${begun.length} at once` }
  }
  expect(await discover(request, [slow, slow])).toEqual({
    found: [],
    looked: ['2 at once', '2 at once'],
    unseen: [],
    next: [],
  })
  expect(begun).toEqual([3000, 3000])
})

async function selected(
  discovery: Discovery,
  more: Partial<Parameters<typeof selectDiscovered>[1]> = {},
): Promise<unknown> {
  const told: string[] = []
  const chosen = await selectDiscovered(discovery, {
    ...request,
    tell: (message) => void told.push(message),
    ...more,
  }).catch((error: AdminError) => error)
  return chosen instanceof AdminError
    ? [chosen.code, chosen.message, chosen.suggestions]
    : [chosen.name, chosen.found, told]
}

test('the only one is used, and that is said', async () => {
  const discovery = await discover(request, [finder(release), finder()])
  expect(await selected(discovery)).toEqual(['prod', 'release `prod`', ['No configuration: using release `prod`']])
})

test('what could not be asked is told though something was found', async () => {
  const silent: Finder = async () => {
    throw new AdminError('UNAVAILABLE', 'docker is installed, but its engine does not answer')
  }
  const narrow: Finder = async () => ({
    found: [unit],
    looked: 'nothing here',
    unseen: 'this user may not list deployments in all namespaces',
  })
  expect(await selected(await discover(request, [finder(release), silent]))).toEqual([
    'prod',
    'release `prod`',
    ['No configuration: using release `prod`', 'Not searched: docker is installed, but its engine does not answer'],
  ])
  expect(await selected(await discover(request, [finder(release), narrow, silent]))).toMatchObject([
    'CONFIGURATION',
    expect.stringMatching(
      new RegExp(
        '; not searched: this user may not list deployments in all namespaces; ' +
          'not searched: docker is installed, but its engine does not answer$',
      ),
    ) as string,
    {},
  ])
})

test('several: one is chosen by name, or asked for, or else all are named', async () => {
  const discovery = await discover(request, [finder(release), finder(unit)])
  expect(await selected(discovery, { name: 'testops' })).toEqual([
    'testops',
    unit.what,
    [`No configuration: using ${unit.what}`],
  ])
  expect(await selected(discovery, { choose: async (found) => found[0]! })).toEqual([
    'prod',
    release.what,
    [`No configuration: using ${release.what}`],
  ])
  const all = '`prod`, the release `prod`; `testops`, the systemd unit `testops.service`'
  expect(await selected(discovery)).toEqual([
    'CONFIGURATION',
    `found several deployments, but no configuration to select one. Found: ${all}`,
    ['-d prod', '-d testops'],
  ])
  expect(await selected(discovery, { name: 'testop' })).toEqual([
    'USAGE',
    `found no deployment \`testop\` and no configuration. Found: ${all}`,
    ['-d testops'],
  ])
  expect(await selected(discovery, { name: 'x' })).toMatchObject(['USAGE', {}, ['-d prod', '-d testops']])
})

test('none is told with what was looked at', async () => {
  const discovery = await discover(request, [finder(), finder()])
  expect(await selected(discovery)).toMatchObject([
    'CONFIGURATION',
    (
      'no configuration found: no testops-admin.yaml in /work/here or above, no ' +
      '/root/.config/testops-admin/config.yaml; no deployment found either: nothing here; nothing here'
    ).replace('/root', (await import('node:os')).homedir()),
    [/^testops-admin init /, /--template configuration > /, /^--config/, /lab up/].map(
      (it) => expect.stringMatching(it) as string,
    ),
  ])
})

test(
  'a compose project is found where there is no configuration, ' + 'and nothing is looked for where there is one',
  async () => {
    const world = await composeWorld(
      { containers: [await recorded('testops'), await recorded('redis')] },
      { ...(await projectFiles()), 'systemctl/systemctl': '#!/bin/sh\nexit 1\n' },
    )
    const environment = {
      ...world.options.environment,
      HOME: world.folder,
      PATH: `${world.folder}/systemctl:${world.options.environment!.PATH}`,
    }
    const found = await findDeployment({ environment, workingDirectory: world.folder })
    expect(found).toEqual({
      name: 'testops',
      found: 'compose project `testops` (service testops, image registry.example.org/qameta/testops:26.2.1)',
      settings: { platform: 'compose', compose: { project: 'testops', service: 'testops' } },
      file: `${world.folder}/testops-admin.yaml`,
    })
    const here = {
      environment,
      workingDirectory: world.folder,
      name: undefined,
      timeoutMs: 5000,
      signal: new AbortController().signal,
    }
    expect(await machinesOf(here)).toHaveLength(1)
    const before = world.asked.length
    const configured = await folderWith({ 'testops-admin.yaml': 'deployments: {prod: {url: "http://127.0.0.1:1"}}\n' })
    expect((await findDeployment({ environment, workingDirectory: configured })).name).toBe('prod')
    expect(world.asked.length).toBe(before)
  },
)

test('a compose file here is found though nothing of it was ever started', async () => {
  const world = await composeWorld({})
  const environment = { ...world.options.environment, HOME: world.folder }
  const workingDirectory = `${world.folder}/project`
  expect(await findDeployment({ environment, workingDirectory })).toMatchObject({
    name: 'project',
    settings: {
      compose: { project: 'project', service: 'testops', file: { path: `${workingDirectory}/docker-compose.yml` } },
    },
  })
})

test('a cluster that does not answer is told first, with its own exit code', async () => {
  const failure = new AdminError('UNREACHABLE', 'Kubernetes at https://k8s refused the connection', ['kubectl version'])
  const dead: Finder = async () => ({
    found: [],
    looked: failure.message,
    unseen: failure.message,
    next: failure.suggestions,
    failure,
  })
  const discovery = await discover(request, [finder(), dead])
  const error = await selectDiscovered(discovery, request).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({
    code: 'UNREACHABLE',
    exitCode: 69,
    message: expect.stringMatching(
      new RegExp(
        String.raw`^Kubernetes at https:\/\/k8s refused the connection; ` +
          'no configuration found: .*; no deployment found either: nothing here$',
      ),
    ) as string,
  })
  expect((error as AdminError).suggestions[0]).toBe('kubectl version')
})
