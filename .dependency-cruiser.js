// The import arrows of docs/dev/architecture.md. A folder may import what stands at its own level only where `own` says
// so.
const layers = {
  core: [],
  knowledge: ['core'],
  logs: ['knowledge', 'core'],
  results: ['logs', 'knowledge', 'core'],
  domain: ['knowledge', 'core'],
  checks: ['domain', 'knowledge', 'core'],
  repairs: ['domain', 'knowledge', 'core'],
  actions: ['domain', 'knowledge', 'core'],
  engine: ['actions', 'knowledge', 'core'],
  output: ['knowledge', 'core'],
  adapters: ['knowledge', 'core'],
  platforms: ['adapters', 'knowledge', 'core'],
  runtime: ['platforms', 'adapters', 'logs', 'results', 'knowledge', 'core'],
  cli: ['runtime', 'results', 'output', 'engine', 'repairs', 'checks', 'domain', 'knowledge', 'core'],
  'lab/practice-service': ['knowledge', 'core'],
}

const arrows = Object.entries(layers).map(([folder, allowed]) => ({
  name: `${folder.replace('/', '-')}-imports-only-${allowed.join('-') || 'itself'}`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: '^src/', pathNot: [folder, ...allowed].map((name) => `^src/${name}/`) },
}))

/** A package that only some folders may import. */
const onlyIn = (packages, folders) => ({
  name: `${packages[0].replace(/\W/g, '')}-only-in-${folders.join('-').replace(/\W+/g, '-')}`,
  severity: 'error',
  from: { path: '^src/', pathNot: folders.map((folder) => `^src/${folder}`) },
  to: { path: packages.map((name) => `node_modules/${name}/`) },
})

export default {
  forbidden: [
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^testcontainers$' },
    },
    { name: 'not-into-tests', severity: 'error', from: { path: '^src/' }, to: { path: '^(test|bench)/' } },
    {
      name: 'lab-servers-stand-alone',
      severity: 'error',
      from: { path: '^src/lab/servers/' },
      to: { path: '^src/', pathNot: ['^src/lab/servers/', '^src/(adapters|knowledge|core)/'] },
    },
    {
      name: 'lab-below-commands',
      severity: 'error',
      from: { path: '^src/lab/' },
      to: { path: '^src/(cli|commands|output)/' },
    },
    {
      name: 'commands-are-not-imported',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/commands/', '^src/main.ts$'] },
      to: { path: '^src/commands/' },
    },
    ...arrows,
    onlyIn(['pg', '@types/pg', 'amqplib', 'ioredis'], ['adapters/', 'lab/']),
    onlyIn(['js-yaml', 'proxy-from-env', 'http-proxy-agent', 'https-proxy-agent'], ['adapters/', 'lab/']),
    onlyIn(['@kubernetes/client-node'], ['platforms/kubernetes/']),
    onlyIn(['@oclif/core'], ['cli/', 'commands/', 'main.ts']),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
}
