import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findAccess } from '../../../src/platforms/kubernetes/access.ts'
import { clientFor, startCluster, told } from './cluster.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'testops-admin-access-'))
})
afterEach(async () => rm(folder, { recursive: true }))

const context = (name: string, rest = 'cluster: main, user: me'): string => `- name: ${name}\n  context: {${rest}}\n`
const clusters = 'clusters:\n- name: main\n  cluster: {server: "https://k8s.example.org:6443/"}\n'
const users = 'users:\n- name: me\n  user: {token: t}\n'
const file = (contexts: string, current = 'current-context: prod\n'): string =>
  `${current}contexts:\n${contexts}${clusters}${users}`

async function access(
  files: Record<string, string>,
  { wanted = null, environment = {} }: { wanted?: string | null; environment?: Record<string, string> } = {},
) {
  const paths = await Promise.all(
    Object.entries(files).map(async ([name, text]) => {
      await writeFile(join(folder, name), text)
      return join(folder, name)
    }),
  )
  return findAccess(
    { context: wanted },
    { KUBECONFIG: paths.join(':'), HOME: folder, ...environment },
    join(folder, 'serviceaccount'),
  )
}

describe('a file that others may write', () => {
  const signIn = {
    command: 'exec: {apiVersion: client.authentication.k8s.io/v1, command: /tmp/login}',
    provider: 'auth-provider: {name: gcp, config: {cmd-path: /tmp/login}}',
  }

  async function written(user: string): Promise<string> {
    const path = join(folder, 'config')
    await writeFile(path, file(context('prod')).replace('token: t', user))
    await chmod(path, 0o666)
    return path
  }

  it.each(Object.entries(signIn))('runs no program: %s', async (_, user) => {
    const path = await written(user)
    await expect(findAccess({ context: null }, { KUBECONFIG: path, HOME: folder })).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: `the configuration of kubectl ${path} is not trusted: every user can write to it (mode 0666)`,
      suggestions: [`chmod go-w ${path}`, expect.stringContaining(`export TESTOPS_ADMIN_TRUST=${path}`) as string],
    })
    expect(
      await findAccess({ context: null }, { KUBECONFIG: path, HOME: folder, TESTOPS_ADMIN_TRUST: path }),
    ).toMatchObject({ context: 'prod' })
  })

  it('may hold a token, which runs nothing', async () => {
    expect(await findAccess({ context: null }, { KUBECONFIG: await written('token: t'), HOME: folder })).toMatchObject({
      context: 'prod',
    })
  })

  it('is not waited for where it is a pipe, and not read where it is huge', async () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    await expect(findAccess({ context: null }, { KUBECONFIG: pipe, HOME: folder })).rejects.toMatchObject({
      message: `${pipe} cannot be read: it is a pipe, not a file`,
    })
    await expect(access({ huge: `# ${'x'.repeat(10_000_000)}` })).rejects.toMatchObject({
      message: `${join(folder, 'huge')} is not a valid kubectl configuration: it is larger than 10 MB`,
    })
  })
})

describe('the way to a cluster', () => {
  it.each([
    ['the current context', 'current-context: {a: 1}\n', 'prod', 'cluster: main, user: me'],
    ['a context', 'current-context: gone\n', '[a]', 'cluster: main, user: me'],
    ['its cluster', 'current-context: prod\n', 'prod', 'cluster: [main], user: me'],
    ['its user', 'current-context: prod\n', 'prod', 'cluster: main, user: {a: 1}'],
  ])('is refused where %s is named by no text', async (_, current, name, rest) => {
    await expect(access({ a: file(context(name, rest), current) })).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message:
        `${join(folder, 'a')} is not a valid kubectl configuration: the name of a context, cluster or user is ` +
        'not text',
    })
  })

  it('may be named by a number, as kubectl takes it', async () => {
    expect(await access({ a: file(context('42'), 'current-context: 42\n') })).toMatchObject({ context: '42' })
  })

  it('is refused with its line where only one of two readers takes the file', async () => {
    await expect(
      access({ a: `${file(context('prod'))}- name: x\n  user: {tokenFile: t}\n? [a, b]\n: c\n` }),
    ).rejects.toMatchObject({ code: 'CONFIGURATION' })
  })

  it('is the current context', async () => {
    expect(await access({ a: file(context('prod', 'cluster: main, user: me, namespace: quality')) })).toMatchObject({
      context: 'prod',
      cluster: { server: 'https://k8s.example.org:6443', skipTLSVerify: false },
      namespace: 'quality',
      user: { name: 'me', token: 't' },
    })
  })

  it('is the context that is named, in the default namespace', async () => {
    expect(await access({ a: file(context('prod') + context('stage')) }, { wanted: 'stage' })).toMatchObject({
      context: 'stage',
      namespace: 'default',
    })
  })

  it('stands in several files, of which the first counts, and some may be missing', async () => {
    const other = file(context('prod', 'cluster: other, user: me') + context('stage'), 'current-context: stage\n')
    expect(await access({ a: file(context('prod')), b: other }, { environment: {} })).toMatchObject({
      context: 'prod',
      cluster: { server: 'https://k8s.example.org:6443' },
    })
    const paths = [join(folder, 'missing'), join(folder, 'b')].join(':')
    expect(await access({ b: other }, { environment: { KUBECONFIG: paths } })).toMatchObject({ context: 'stage' })
  })

  it('leads through certificates that stand beside the file', async () => {
    await writeFile(join(folder, 'ca.pem'), 'PEM')
    const text = file(context('prod')).replace(
      'server: ',
      'certificate-authority: ca.pem, tls-server-name: k8s, proxy-url: "http://proxy:3128", server: ',
    )
    expect(await access({ a: text })).toMatchObject({
      cluster: { caFile: join(folder, 'ca.pem'), tlsServerName: 'k8s', proxyUrl: 'http://proxy:3128' },
    })
  })

  it("is a pod's own account, where nothing else is there", async () => {
    const own = join(folder, 'serviceaccount')
    await import('node:fs/promises').then(({ mkdir }) => mkdir(own))
    await Promise.all([
      writeFile(join(own, 'token'), 'of the pod\n'),
      writeFile(join(own, 'ca.crt'), 'PEM'),
      writeFile(join(own, 'namespace'), 'quality'),
    ])
    const environment = { KUBECONFIG: '', KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }
    expect(await access({}, { environment })).toMatchObject({
      context: null,
      cluster: { server: 'https://[fd00::1]:443', caFile: join(own, 'ca.crt'), skipTLSVerify: false },
      namespace: 'quality',
    })
  })

  it.each<[string, string, string | null, { code: string; message: string; suggestions: string[] }]>([
    [
      'a context that there is not',
      file(context('prod') + context('stage')),
      'prdo',
      {
        code: 'CONFIGURATION',
        message: 'kubectl has no context `prdo` in FOLDER/a. Its contexts: `prod`, `stage`',
        suggestions: ['did you mean prod?', 'kubectl config get-contexts'],
      },
    ],
    [
      'no current context',
      file(context('prod'), ''),
      null,
      {
        code: 'CONFIGURATION',
        message: 'kubectl has no current context in FOLDER/a. Choose one of: `prod`',
        suggestions: ['set `kubernetes.context`', 'kubectl config use-context NAME'],
      },
    ],
    [
      'nothing',
      '',
      null,
      {
        code: 'UNAVAILABLE',
        message:
          'no cluster is known: kubectl has no configuration in FOLDER/a, and testops-admin does not run in a pod',
        suggestions: ['kubectl config get-contexts', 'export KUBECONFIG=FILE'],
      },
    ],
    [
      'a context without its cluster',
      file(context('prod', 'cluster: gone, user: me')),
      null,
      {
        code: 'CONFIGURATION',
        message: 'the context `prod` in FOLDER/a is invalid: no address is configured for its cluster `gone`',
        suggestions: ['kubectl config view'],
      },
    ],
    [
      'a context without its user',
      file(context('prod', 'cluster: main, user: gone')),
      null,
      {
        code: 'CONFIGURATION',
        message: 'the context `prod` in FOLDER/a is invalid: its user `gone` is missing',
        suggestions: ['kubectl config view'],
      },
    ],
    [
      'an address of another kind',
      file(context('prod')).replace('https:', 'ftp:'),
      null,
      {
        code: 'CONFIGURATION',
        message:
          'the context `prod` in FOLDER/a is invalid: the address of its cluster `main` is not an http or ' +
          'https address: ftp://k8s.example.org:6443',
        suggestions: ['kubectl config view'],
      },
    ],
    [
      'a list of something else',
      'contexts: [5]\n',
      null,
      {
        code: 'CONFIGURATION',
        message: 'FOLDER/a is not a valid kubectl configuration: contexts[0].name is missing',
        suggestions: ['kubectl config view'],
      },
    ],
    [
      'a namespace that is no text',
      file(context('prod', 'cluster: main, user: me, namespace: [a]')),
      null,
      {
        code: 'CONFIGURATION',
        message: 'the context `prod` in FOLDER/a is invalid: its namespace is not text',
        suggestions: ['kubectl config view'],
      },
    ],
  ])('is told where it is %s', async (_, text, wanted, expected) => {
    expect(await told(access({ a: text }, { wanted }))).toEqual(expected)
  })

  it.each([
    [
      'keys that are one to kubectl',
      'contexts: []\non: 1\ntrue: 2\n',
      'FOLDER/a:3 is not a valid kubectl configuration: in YAML 1.1, the key `true` is the same as an earlier ' +
        'key: put the key in quotes',
    ],
    [
      'a merge of a list',
      'users: &a [1]\nclusters: []\nextensions:\n  <<: *a\n',
      'FOLDER/a:4 is not a valid kubectl configuration: `<<` merges something that is not a map',
    ],
    [
      'an unknown tag',
      'contexts: !vault x\n',
      'FOLDER/a:1 is not a valid kubectl configuration: the tag `!vault` is unknown',
    ],
  ])('is told where it has %s, with the line', async (_, text, message) => {
    expect(await told(access({ a: text }))).toMatchObject({ code: 'CONFIGURATION', message })
  })

  it('is told where it is broken YAML, with the line', async () => {
    const { code, message } = await told(access({ a: 'contexts:\n- {name: a\n' }))
    expect([code, message.replace(/kubectl configuration: .*/, 'kubectl configuration')]).toEqual([
      'CONFIGURATION',
      'FOLDER/a:2 is not a valid kubectl configuration',
    ])
  })
})

describe('a program that signs in', () => {
  const ask = { resource: 'deployments', namespace: 'testops', name: 'testops-testops' } as const

  /** A client whose user is signed in by a shell script. */
  async function signedInBy(script: string, { timeoutMs = 5000, command = './sign-in', args = 'get-token' } = {}) {
    const { server, environment } = await startCluster()
    await writeFile(join(folder, 'sign-in'), `#!/bin/sh\necho x >> "${folder}/calls"\n${script}\n`)
    await chmod(join(folder, 'sign-in'), 0o755)
    const exec =
      `{apiVersion: client.authentication.k8s.io/v1, command: ${command}, args: [${args}], env: [{name: ROLE, ` +
      'value: admin}], installHint: "get it from your administrator"}'
    await writeFile(
      join(folder, 'config'),
      `current-context: test\nclusters:\n- {name: c, cluster: {server: "${server.url}"}}\ncontexts:\n- {name: ` +
        `test, context: {cluster: c, user: me}}\nusers:\n- {name: me, user: {exec: ${exec}}}\n`,
    )
    return {
      server,
      client: await clientFor({ ...environment, KUBECONFIG: join(folder, 'config'), HOME: folder }, { timeoutMs }),
    }
  }
  const credential = (token: string, more = ''): string =>
    `echo '{"kind":"ExecCredential","status":{"token":"${token}"${more}}}'`
  const calls = async (): Promise<number> =>
    import('node:fs/promises').then(
      async ({ readFile }) => (await readFile(join(folder, 'calls'), 'utf8')).split('\n').length - 1,
    )

  it('is run once for all requests, with what the user is to give it', async () => {
    const { client } = await signedInBy(
      'test "$1$ROLE" = get-tokenadmin && case "$KUBERNETES_EXEC_INFO" in *ExecCredential*) ' +
        `${credential('test-token')};; esac`,
    )
    await client.get(ask)
    await client.get(ask)
    expect(await calls()).toBe(1)
  })

  it('is run again once its credential is over, or is refused', async () => {
    const over = await signedInBy(credential('test-token', ',"expirationTimestamp":"2020-01-01T00:00:00Z"'))
    await over.client.get(ask)
    await over.client.get(ask)
    expect(await calls()).toBe(2)
    const refused = await signedInBy(
      `if test -e "${folder}/again"; then ${credential('test-token')}; else touch "${folder}/again"; ` +
        `${credential('old')}; fi`,
    )
    await refused.client.get(ask)
    expect(await calls()).toBe(4)
  })

  it.each<[string, string, { timeoutMs?: number; command?: string; args?: string }, object]>([
    [
      'that fails',
      'echo \'{"status":{"token":"half\'; echo "token has expired, run: sign-in login" >&2; exit 2',
      {},
      {
        code: 'UNAUTHENTICATED',
        message:
          'the credential plugin of user `me` in FOLDER/config failed: `./sign-in get-token` exited with 2: ' +
          'token has expired, run: sign-in login',
        suggestions: ['./sign-in get-token'],
      },
    ],
    [
      'that fails, and is told a secret by its options',
      'exit 2',
      { args: 'get-token, --oidc-client-secret=geheim, --password, geheim, --scope=all' },
      {
        code: 'UNAUTHENTICATED',
        message:
          'the credential plugin of user `me` in FOLDER/config failed: `./sign-in get-token ' +
          '--oidc-client-secret=SECRET --password SECRET --scope=all` exited with 2',
        suggestions: ['./sign-in get-token --oidc-client-secret=SECRET --password SECRET --scope=all'],
      },
    ],
    [
      'that takes too long, and is told a secret by its options',
      'exec sleep 5',
      { timeoutMs: 300, args: '--token=geheim' },
      {
        code: 'TIMED_OUT',
        message: '`./sign-in --token=SECRET` did not finish within 0.3 s',
        suggestions: ['./sign-in --token=SECRET'],
      },
    ],
    [
      'that says nothing of use',
      'echo hello',
      {},
      {
        code: 'UNEXPECTED_ANSWER',
        message:
          '`./sign-in get-token` prints no credential: it must print an ExecCredential with a token or a certificate',
        suggestions: ['./sign-in get-token | wc   # shows only the size of the output, because it may contain secrets'],
      },
    ],
    [
      'that is not there',
      '',
      { command: 'no-such-program' },
      {
        code: 'UNAVAILABLE',
        message:
          'the credential plugin of user `me` in FOLDER/config cannot be run: no-such-program is not installed ' +
          'on this machine',
        suggestions: ['command -v no-such-program', "the kubeconfig says: 'get it from your administrator'"],
      },
    ],
  ])('%s is told', async (_, script, options, expected) => {
    const { client } = await signedInBy(script, options)
    expect(await told(client.get(ask))).toEqual(expected)
  })

  it('that hangs is ended', async () => {
    const { client } = await signedInBy('sleep 30', { timeoutMs: 300 })
    expect(await told(client.get(ask))).toMatchObject({ code: 'TIMED_OUT' })
  })
})
