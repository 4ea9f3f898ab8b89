import { describe, expect, test } from 'vitest'
import { answerStep } from '../../../src/domain/integrations/answer.ts'
import { certificateStep, reachSteps } from '../../../src/domain/integrations/reach.ts'
import type { ServicePlace } from '../../../src/domain/integrations/reach.ts'
import { keptFromSignIn, signInStep } from '../../../src/domain/integrations/credentials.ts'
import { AdminError } from '../../../src/core/error.ts'
import type {
  Certificate,
  ExternalSystem,
  IntegrationStep,
  ShownAnswer,
  TlsShown,
} from '../../../src/core/external-system.ts'

const api = new URL('https://tracker.example.org/rest/api/2/myself')
const root = new URL('https://tracker.example.org/')
const ui = new URL('https://example.org/jira')

function answer(status: number, of: Partial<ShownAnswer> = {}): ShownAnswer {
  return { status, said: `HTTP ${status}`, form: 'json', location: null, isLoop: false, durationMs: 5, ...of }
}

const shortly = ({ status, cause }: IntegrationStep): string => (cause === undefined ? status : `${status} ${cause}`)

describe('an answer to who gives no credentials', () => {
  test.each<[string, URL, ShownAnswer | AdminError, string, RegExp]>([
    ['wants a user', api, answer(401), 'ok', /asks for credentials/],
    ['is open', api, answer(200), 'ok', /answers without credentials/],
    ['forbids', api, answer(403), 'unknown', /requires credentials, or it refuses this machine$/],
    ['does not know the call', api, answer(400), 'problem api', /the API has changed$/],
    ['is not there', api, answer(404), 'problem api', /does not recognize this API call/],
    ['is gone', api, answer(410), 'problem api', /does not recognize this API call/],
    ['is not there at the root, which names no API', root, answer(404), 'ok', /add the path of the API to `--url`/],
    ['does not answer GET', api, answer(405), 'unknown', /refuses GET at this address/],
    ['is a page where an API was', api, answer(200, { form: 'page' }), 'problem api', /a web page/],
    ['is a page of a web interface', ui, answer(200, { form: 'page' }), 'warning api', /a web page/],
    ['is the page at the root', root, answer(200, { form: 'page' }), 'ok', /says nothing about the API/],
    ['wants no more calls', api, answer(429), 'unknown', /no more calls/],
    ['fails', api, answer(500), 'problem api', /internal error/],
    ['is not reached behind its proxy', api, answer(502), 'problem connectivity', /cannot reach it/],
    [
      'wants https',
      new URL('http://a.example.org:443/api'),
      answer(400, { said: "HTTP 400, 'The plain HTTP request was sent to HTTPS port'" }),
      'problem api',
      /expects https/,
    ],
    ['sends to its sign-in page from the root', root, answer(302, { location: '/login.jsp' }), 'ok', /sign-in page/],
    [
      'sends to a sign-in page where an API was',
      api,
      answer(302, { location: 'https://sso.example.org/auth' }),
      'problem api',
      /an API would answer 401/,
    ],
    [
      'sends to a sign-in page by its other name',
      api,
      answer(302, { location: '/users/sign_in' }),
      'problem api',
      /a sign-in page, but an API would answer 401/,
    ],
    ['sends to a page that authorizes', ui, answer(302, { location: '/authorize' }), 'warning api', /a sign-in page/],
    ['sends to a session', api, answer(303, { location: '/session/new' }), 'problem api', /a sign-in page/],
    ['sends to a catalogue', ui, answer(302, { location: '/catalogindex' }), 'ok', /another of its own pages/],
    [
      'sends to itself',
      api,
      answer(302, { location: '/rest/api/2/myself', isLoop: true }),
      'problem api',
      /^HTTP 302: the external system redirects to itself/,
    ],
    [
      'sends to itself, where that is a sign-in page',
      new URL('https://a.example.org/login'),
      answer(302, { location: '/login', isLoop: true }),
      'problem api',
      /redirects to itself/,
    ],
    [
      'sends to itself for good, at the root',
      root,
      answer(301, { location: '/', isLoop: true }),
      'problem api',
      /redirects to itself/,
    ],
    [
      'requires a client certificate',
      api,
      new AdminError('UNEXPECTED_ANSWER', 'it wants one', [], {
        obstacle: { kind: 'client-certificate', host: 'a', port: 443 },
      }),
      'unknown',
      /^it wants one: cannot tell from this machine whether the service has a client certificate/,
    ],
    [
      'requires a client certificate, and says so',
      api,
      answer(400, { said: "HTTP 400, 'No required SSL certificate was sent'" }),
      'unknown',
      /requires a client certificate: cannot tell from this machine whether the service has a client certificate/,
    ],
    [
      'sends to another host',
      api,
      answer(302, { location: 'https://other.example.com/rest' }),
      'problem api',
      /another host/,
    ],
    [
      'sends to https',
      new URL('http://a.example.org/x'),
      answer(301, { location: 'https://a.example.org/x' }),
      'warning api',
      /must begin with https:\/\//,
    ],
    ['has moved for good', api, answer(308, { location: '/rest/api/3/myself' }), 'warning api', /moved permanently/],
    ['sends to another page', ui, answer(302, { location: '/jira/' }), 'ok', /another of its own pages/],
    ['sends to what is no address', api, answer(302, { location: 'http://[' }), 'problem api', /invalid address/],
    ['has a status that nobody knows', api, answer(499), 'problem api', /does not recognize this API call/],
    ['never comes', api, new AdminError('TIMED_OUT', 'late'), 'problem connectivity', /^late$/],
    ['is no HTTP', api, new AdminError('UNEXPECTED_ANSWER', 'no HTTP'), 'problem api', /^no HTTP$/],
    [
      'is kept back by a proxy',
      api,
      new AdminError('UNREACHABLE', 'no', [], { obstacle: { kind: 'proxy', host: 'p', port: 3128 } }),
      'unknown',
      /^no$/,
    ],
  ])('%s', (_, url, said, expected, message) => {
    const step = answerStep(url, said)
    expect(shortly(step)).toBe(expected)
    expect(step.message).toMatch(message)
    if (step.status !== 'ok') expect(step.next).toEqual([`curl -i ${url.href}`])
  })
})

const now = new Date('2026-11-22T12:00:00Z')
const days = (count: number): Date => new Date(now.getTime() + count * 86_400_000)

function certificate(of: Partial<Certificate> = {}): Certificate {
  return {
    subject: 'tracker.example.org',
    issuer: 'R11 (Authority)',
    names: ['tracker.example.org'],
    from: days(-30),
    to: days(60),
    isSelfSigned: false,
    ...of,
  }
}

function encrypted(of: Partial<TlsShown> | AdminError): ExternalSystem {
  const tls =
    of instanceof AdminError
      ? of
      : { protocol: 'TLSv1.3', distrust: null, isNamed: true, chain: [certificate()], ...of }
  return {
    proxy: null,
    addresses: ['10.0.0.7'],
    connection: { to: '10.0.0.7:443', durationMs: 3 },
    tls,
    answer: answer(401),
  }
}

describe('a certificate', () => {
  test.each<[string, Partial<TlsShown> | AdminError, string, RegExp]>([
    [
      'is fine',
      {},
      'ok',
      new RegExp(
        String.raw`^certificate for tracker\.example\.org, issued by R11 \(Authority\), ` +
          'valid until 2027-01-21 12:00:00Z: 60 days left$',
      ),
    ],
    ['ends in 15 days', { chain: [certificate({ to: days(15) })] }, 'ok', /: 15 days left$/],
    ['ends in 14 days', { chain: [certificate({ to: days(14) })] }, 'warning connectivity', /: 14 days left$/],
    [
      'has an authority that ends sooner',
      { chain: [certificate(), certificate({ subject: 'R11', to: days(1) })] },
      'warning connectivity',
      /\(when the issuer certificate of R11 expires\): 1 day left$/,
    ],
    [
      'has expired',
      { distrust: 'CERT_HAS_EXPIRED', chain: [certificate({ to: days(-1) })] },
      'problem connectivity',
      /^the certificate expired at 2026-11-21 12:00:00Z\. Issuer: R11/,
    ],
    [
      'has an authority that has expired',
      { distrust: 'CERT_HAS_EXPIRED', chain: [certificate(), certificate({ subject: 'R11', to: days(-1) })] },
      'problem connectivity',
      /^the issuer certificate of R11 expired/,
    ],
    [
      'is not valid yet',
      { distrust: 'CERT_NOT_YET_VALID', chain: [certificate({ from: days(1) })] },
      'problem connectivity',
      new RegExp(
        '^the certificate is valid only from 2026-11-23 12:00:00Z. ' +
          'If that time has passed, the clock of this machine is wrong',
      ),
    ],
    [
      'is for another name',
      { distrust: 'ERR_TLS_CERT_ALTNAME_INVALID', isNamed: false },
      'problem connectivity',
      /^the certificate is for tracker\.example\.org, not for tracker\.example\.org/,
    ],
    [
      'is signed by itself',
      { distrust: 'DEPTH_ZERO_SELF_SIGNED_CERT', chain: [certificate({ isSelfSigned: true })] },
      'problem connectivity',
      /^the certificate is self-signed\. The service may still trust it: .*`--ca FILE`$/,
    ],
    [
      'is of an unknown authority',
      { distrust: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' },
      'problem connectivity',
      /does not send the issuer's certificate, .* Issuer: R11/,
    ],
    ['is distrusted for another reason', { distrust: 'CERT_REVOKED' }, 'problem connectivity', /^CERT_REVOKED/],
    [
      'is several things at once',
      {
        distrust: 'DEPTH_ZERO_SELF_SIGNED_CERT',
        isNamed: false,
        chain: [certificate({ isSelfSigned: true, to: days(-1), names: [] })],
      },
      'problem connectivity',
      /^the certificate is for .*; the certificate expired .*; the certificate is self-signed/,
    ],
    ['is not shown', { chain: [] }, 'unknown', /sends no certificate/],
    [
      'is wanted of the client',
      new AdminError('UNEXPECTED_ANSWER', 'it wants one', [], {
        obstacle: { kind: 'client-certificate', host: 'a', port: 443 },
      }),
      'unknown',
      /^it wants one: cannot tell from this machine whether the service has a client certificate/,
    ],
    [
      'is not come to',
      new AdminError('UNEXPECTED_ANSWER', 'it answered in plain text'),
      'problem connectivity',
      /^it answered in plain text$/,
    ],
  ])('%s', (_, of, expected, message) => {
    const step = certificateStep(root, encrypted(of), now)!
    expect(shortly(step)).toBe(expected)
    expect(step.message).toMatch(message)
  })

  test('of a way through a proxy of this machine nothing is certain for the service', () => {
    const step = certificateStep(
      root,
      { ...encrypted(new AdminError('UNREACHABLE', 'the proxy does not let through')), proxy: 'proxy:3128' },
      now,
    )
    expect(step).toMatchObject({ status: 'unknown', message: 'from this machine: the proxy does not let through' })
  })

  test('is not asked for where nothing is encrypted', () => {
    expect(certificateStep(root, { ...encrypted({}), tls: null }, now)).toBeNull()
  })
})

describe('name and connection', () => {
  const refused = new AdminError('UNREACHABLE', 'refused')
  const there = (resolves: ServicePlace['resolves'], isElsewhere = false): ServicePlace => ({ resolves, isElsewhere })
  const system = (of: Partial<ExternalSystem>): ExternalSystem => ({ ...encrypted({}), ...of })

  test.each<[string, Partial<ExternalSystem>, ServicePlace | null, string[], RegExp]>([
    [
      'both fine',
      {},
      there(true),
      ['name ok', 'connection ok'],
      new RegExp(
        String.raw`resolves to 10\.0\.0\.7 on this machine; ` +
          String.raw`the name resolves where the service runs \| 10\.0\.0\.7:443 accepts connections \(3 ms\)$`,
      ),
    ],
    [
      'no deployment',
      {},
      null,
      ['name ok', 'connection ok'],
      /cannot tell whether the name resolves where the service runs: no deployment is named/,
    ],
    [
      'it cannot be asked there',
      {},
      there(null),
      ['name ok', 'connection ok'],
      /cannot tell whether the name resolves where the service runs \|/,
    ],
    [
      'it may not be asked there',
      {},
      there(new AdminError('FORBIDDEN', 'no exec')),
      ['name unknown', 'connection ok'],
      /cannot tell .*: no exec/,
    ],
    [
      'no address there',
      {},
      there(false),
      ['name problem connectivity', 'connection ok'],
      /the name does not resolve where the service runs/,
    ],
    [
      'no address anywhere',
      { addresses: [], connection: null },
      there(false),
      ['name problem connectivity'],
      /does not resolve on this machine; the name does not resolve/,
    ],
    [
      'no address here, nothing known of there',
      { addresses: [], connection: null },
      null,
      ['name problem connectivity'],
      /does not resolve on this machine/,
    ],
    [
      'no address here alone',
      { addresses: [], connection: null },
      there(true),
      ['name unknown'],
      /does not resolve on this machine; the name resolves where/,
    ],
    [
      'a proxy looks names up',
      { addresses: [], proxy: 'proxy:3128', connection: { to: 'proxy:3128', durationMs: 1 } },
      null,
      ['name ok', 'connection ok'],
      /but the proxy proxy:3128 resolves names.*All further steps use it/,
    ],
    [
      'the look-up fails',
      { addresses: new AdminError('TIMED_OUT', 'late'), connection: null },
      null,
      ['name problem connectivity'],
      /late/,
    ],
    ['an address is no name', { addresses: null }, null, ['connection ok'], /accepts/],
    ['refused', { connection: refused }, there(true), ['name ok', 'connection problem connectivity'], /refused$/],
    [
      'refused from here, and the service is elsewhere',
      { connection: refused },
      there(true, true),
      ['name ok', 'connection unknown'],
      /refused$/,
    ],
    [
      'the proxy refuses',
      { connection: refused, proxy: 'proxy:3128' },
      null,
      ['name ok', 'connection unknown'],
      /refused$/,
    ],
  ])('%s', (_, of, place, expected, message) => {
    const steps = reachSteps(root, system(of), place)
    expect(steps.map((step) => `${step.step} ${shortly(step)}`)).toEqual(expected)
    expect(steps.map((step) => step.message).join(' | ')).toMatch(message)
  })
})

describe('the one attempt to sign in', () => {
  test.each<[string, ShownAnswer | AdminError, ShownAnswer | null, string]>([
    ['is accepted', answer(200), answer(401), 'ok'],
    ['is accepted, as is who gives no credentials', answer(200), answer(200), 'unknown'],
    ['ends on a page', answer(200, { form: 'page' }), answer(401), 'unknown'],
    ['is refused', answer(401), answer(401), 'problem credentials'],
    ['is forbidden', answer(403), answer(401), 'problem credentials'],
    ['is not understood', answer(404), answer(401), 'problem api'],
    ['is not understood, as without credentials', answer(404), answer(404), 'problem api'],
    ['finds what is hidden from others', answer(200), answer(404), 'ok'],
    ['is one too many', answer(429), answer(401), 'unknown'],
    ['is sent elsewhere', answer(302, { location: '/login' }), answer(401), 'unknown'],
    ['meets a failure', answer(503), answer(401), 'unknown'],
    ['is not answered', new AdminError('TIMED_OUT', 'late'), answer(401), 'unknown'],
  ])('%s', (_, said, before, expected) => {
    expect(shortly(signInStep(said, before))).toBe(expected)
  })

  test('is not made where something stands in the way, or it was not reached', () => {
    const problem: IntegrationStep = { step: 'certificate', status: 'problem', message: '' }
    expect(keptFromSignIn([problem, answerStep(api, answer(401))], answer(401))).toBe(
      'not tried: fix the certificate first',
    )
    expect(keptFromSignIn([answerStep(api, answer(410))], answer(410))).toBe('not tried: fix the answer first')
    expect(keptFromSignIn([answerStep(api, answer(404))], answer(404))).toBeNull()
    expect(keptFromSignIn([], null)).toBe('not tried: the external system was not reached')
    expect(
      keptFromSignIn([answerStep(api, answer(401)), { step: 'password', status: 'problem', message: '' }], answer(401)),
    ).toBeNull()
  })
})
