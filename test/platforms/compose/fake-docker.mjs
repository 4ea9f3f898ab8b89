// Stands for `docker` with its compose plugin: answers from state.json beside the program, in the shapes that were recorded, and
// writes down what it was asked. What changes containers changes that file.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname, release } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const [program, ...words] = process.argv.slice(2)
const folder = dirname(program)
const file = join(folder, 'state.json')
const state = JSON.parse(readFileSync(file, 'utf8'))
const label = (container, name) => container.Config.Labels[`com.docker.compose.${name}`]
const keep = () => writeFileSync(file, JSON.stringify(state))
const fail = (text, code = 1) => {
  process.stderr.write(`${text}\n`)
  process.exit(code)
}
appendFileSync(join(folder, 'asked'), `${words.join(' ')}\n`)
if (state.failure) fail(state.failure.text, state.failure.code)

const commands = { ps, inspect, info, context, stop, start, logs, exec, image, compose }
if (!commands[words[0]]) fail(`docker: '${words[0]}' is not a docker command.`)
await commands[words[0]](words.slice(1))

function ps(rest) {
  const [, name, value] = /^label=([^=]*)(?:=(.*))?$/.exec(rest[rest.indexOf('--filter') + 1])
  for (const it of state.containers) if (value === undefined ? it.Config.Labels[name] : it.Config.Labels[name] === value) console.log(it.Id)
}

function inspect(rest) {
  const ids = rest.filter((it) => /^[0-9a-f]{64}$/.test(it))
  console.log(JSON.stringify(state.containers.filter((it) => ids.includes(it.Id))))
}

function info() {
  console.log(JSON.stringify({ Name: state.machine ?? hostname(), KernelVersion: release() }))
}

function context() {
  console.log('unix:///var/run/docker.sock')
}

function stop(rest) {
  for (const it of state.containers.filter(({ Id }) => rest.includes(Id))) {
    it.State = { ...it.State, Status: 'exited', Running: false, Pid: 0, ExitCode: 143, FinishedAt: new Date().toISOString() }
  }
  keep()
}

function start(rest) {
  for (const it of state.containers.filter(({ Id }) => rest.includes(Id))) run(it)
  keep()
}

function run(it) {
  it.State = { ...it.State, Status: 'running', Running: true, Pid: 0, ExitCode: 0, StartedAt: new Date().toISOString() }
}

function logs(rest) {
  process.stdout.write(state.logs?.[rest.at(-1)]?.stdout ?? '')
  process.stderr.write(state.logs?.[rest.at(-1)]?.stderr ?? '')
}

function exec(rest) {
  const answer = state.exec?.[rest.slice(1).join(' ')]
  if (!answer) fail('OCI runtime exec failed: exec failed: unable to start container process: executable file not found in $PATH: unknown', 126)
  process.stdout.write(answer.stdout ?? '')
  process.exit(answer.code ?? 0)
}

function image() {
  console.log(JSON.stringify([{ Config: { Env: state.imageEnvironment ?? null } }]))
}

async function compose(rest) {
  if (state.withoutCompose) fail("docker: 'compose' is not a docker command.")
  if (rest[0] === 'version') return
  const { load } = await import('js-yaml')
  const all = (flag) => rest.flatMap((it, index) => (it === flag ? [rest[index + 1]] : []))
  const files = all('--file')
  const base = all('--project-directory')[0] ?? dirname(resolve(files[0]))
  const settings = Object.assign({}, ...(all('--env-file').length > 0 ? all('--env-file') : [join(base, '.env')]).map(dotenv))
  const services = {}
  for (const it of files) {
    const parsed = parse(readFileSync(it === '-' ? 0 : it, 'utf8'), settings, load)
    for (const [name, service] of Object.entries(parsed.services ?? {})) {
      const fromFiles = Object.assign({}, ...[service.env_file ?? []].flat().map((path) => dotenv(resolve(base, path))))
      const { env_file, ...others } = service
      const environment = { ...services[name]?.environment, ...fromFiles, ...asMap(service.environment) }
      services[name] = { ...services[name], ...others, environment }
    }
  }
  if (rest.includes('config')) console.log(JSON.stringify({ name: all('--project-name')[0], services }).replaceAll('$', '$$$$'))
  else if (rest.includes('up')) up(rest.at(-1), services[rest.at(-1)], { project: all('--project-name')[0], files, base })
}

function parse(text, settings, load) {
  try {
    return load(interpolated(text, settings)) ?? {}
  } catch (error) {
    fail(`yaml: ${error.reason}`)
  }
}

function interpolated(text, settings) {
  const value = (name, fallback) => process.env[name] ?? settings[name] ?? fallback ?? ''
  return text.replace(/\$\$|\$\{(\w+)(?::?-([^}]*))?\}|\$(\w+)/g, (found, braced, fallback, bare) => (found === '$$' ? '$' : value(braced ?? bare, fallback)))
}

function asMap(environment) {
  if (!Array.isArray(environment)) return Object.fromEntries(Object.entries(environment ?? {}).map(([name, it]) => [name, it === null ? null : String(it)]))
  return Object.fromEntries(environment.map((it) => (it.includes('=') ? [it.slice(0, it.indexOf('=')), it.slice(it.indexOf('=') + 1)] : [it, null])))
}

function dotenv(path) {
  if (!existsSync(path)) return {}
  const lines = readFileSync(path, 'utf8').split(/\r?\n/).filter((it) => /^\w+=/.test(it))
  return Object.fromEntries(lines.map((it) => [it.slice(0, it.indexOf('=')), it.slice(it.indexOf('=') + 1).replace(/^"(.*)"$/, '$1')]))
}

function up(service, declared, { project, files, base }) {
  const old = state.containers.find((it) => label(it, 'project') === project && label(it, 'service') === service)
  const Id = `${(state.made = (state.made ?? 0) + 1)}`.padStart(64, 'a')
  const made = {
    ...old,
    Id,
    Name: old?.Name ?? `/${project}-${service}-1`,
    State: {},
    HostConfig: old?.HostConfig ?? {},
    NetworkSettings: old?.NetworkSettings ?? {},
    Config: {
      ...old?.Config,
      Image: declared.image,
      Hostname: Id.slice(0, 12),
      Env: [...(state.imageEnvironment ?? []), ...Object.entries(declared.environment).filter(([, it]) => it !== null).map(([name, it]) => `${name}=${it}`)],
      Labels: {
        ...old?.Config.Labels,
        'com.docker.compose.project': project,
        'com.docker.compose.service': service,
        'com.docker.compose.project.working_dir': base,
        'com.docker.compose.project.config_files': files.join(','),
      },
    },
  }
  run(made)
  state.containers = [...state.containers.filter((it) => it !== old), made]
  keep()
}
