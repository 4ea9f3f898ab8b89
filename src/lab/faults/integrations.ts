import { appendFileSync } from 'node:fs'
import { onDatabase } from '../access/database.ts'
import { integrate, integrationChanges, removeIntegration, trackerUser } from '../external-system/control.ts'
import type { Fault, FaultCase } from '../fault.ts'
import { nothing, notInDrills } from '../fault.ts'
import { createLog, throwable } from '../practice-service/log/log.ts'
import { unitIn } from '../service-control/unit.ts'
import { restartLabService, rotateLog, stopLabService, waitForLog, waitUntilServing } from '../service.ts'

/** No name under .invalid ever resolves (RFC 6761). */
const host = 'tracker.practice.invalid'

export const unknownHost: Fault = {
  id: 'unknown-host',
  kind: 'fault',
  title: "an integration's host has no address",
  repair: "correct the host in the integration's settings, or make the host's name resolve",
  notInDrills: notInDrills.log,
  cases: [
    {
      variant: null,
      made: `an integration is set up with the address https://${host}, a host name that does not resolve`,
      expected: { exitCode: 1, problems: { 'integrations/reachable': 'error' }, allowedConsequences: [] },
      needs: { serving: true },
      async apply(lab) {
        await onDatabase(lab, (sql) =>
          sql('INSERT INTO integration (name, url) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', [
            'tracker',
            `https://${host}/rest/api/2/myself`,
          ]),
        )
        await waitForLog(lab, `UnknownHostException: ${host}`)
      },
      async revert(lab) {
        await onDatabase(lab, (sql) => sql('DELETE FROM integration WHERE name = $1', ['tracker']))
      },
    },
  ],
}

/** A name that every machine resolves. */
const resolvingHost = 'localhost'
const hoursAgo = 2

export const oldUnknownHost: Fault = {
  id: 'old-unknown-host',
  kind: 'healthy',
  title: 'an old UnknownHostException for a host that resolves again',
  repair: 'nothing to do',
  cases: [
    {
      variant: null,
      made: `the log has UnknownHostExceptions from ${hoursAgo} hours ago, for a host that resolves now`,
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      needs: { serving: true },
      async apply(lab) {
        await stopLabService(lab)
        await rotateLog(lab)
        const { logFile } = unitIn(lab.layout.service)
        const offsetMs = -hoursAgo * 3_600_000
        const log = createLog({
          write: (text) => appendFileSync(logFile, text, { mode: 0o600 }),
          clock: { offsetMs, now: () => Date.now() + offsetMs },
          timeZone: 'UTC',
          enabled: () => true,
        }).from('scheduling-1')
        const frames = [
          'java.base/java.net.InetAddress$CachedAddresses.get(InetAddress.java:801)',
          'okhttp3.Dns$Companion$DnsSystem.lookup(Dns.kt:49)',
        ]
        for (let number = 0; number < 3; number += 1) {
          log.error(
            'vendor.package.integration.IntegrationConnectionService',
            "Can't connect to integration 'tracker'",
            throwable('java.net.UnknownHostException', resolvingHost, frames),
          )
        }
        await restartLabService(lab)
        await waitUntilServing(lab)
      },
      revert: nothing,
    },
  ],
}

function refusedWith(variant: string, made: string, password: string): FaultCase {
  return {
    variant,
    made: `an integration calls an external system ${made}; debug output for integrations is on`,
    expected: {
      exitCode: 1,
      problems: { 'integrations/credentials': 'error' },
      allowedConsequences: ['integrations/debug-logging'],
    },
    changes: integrationChanges(password),
    needs: { serving: true },
    apply: (lab) => integrate(lab, { password, wantsVersion: false, status: 401 }),
    revert: removeIntegration,
  }
}

export const badCredentials: Fault = {
  id: 'bad-credentials',
  kind: 'fault',
  title: "an external system refuses the integration's credentials",
  repair:
    "enter the credentials again in the integration's settings; testops-admin check-integration shows stray spaces",
  notInDrills: notInDrills.log,
  cases: [
    refusedWith('wrong', 'with a wrong password', 'green-harbour-1'),
    refusedWith('blank', 'with the right password, but with a space after it', `${trackerUser.password} `),
  ],
}

export const integration400: Fault = {
  id: 'integration-400',
  kind: 'fault',
  title: 'an integration calls an API that the external system no longer offers',
  repair:
    "compare the versions of the service and the external system, and correct the integration's settings " +
    '(details: testops-admin explain integrations/answers)',
  notInDrills: notInDrills.log,
  cases: [
    {
      variant: null,
      made:
        'after an update, an external system requires an additional header, so it answers the ' +
        "integration's calls with HTTP 400; debug output for integrations is on",
      expected: {
        exitCode: 1,
        problems: { 'integrations/answers': 'error' },
        allowedConsequences: ['integrations/debug-logging'],
      },
      changes: integrationChanges(trackerUser.password),
      needs: { serving: true },
      apply: (lab) => integrate(lab, { password: trackerUser.password, wantsVersion: true, status: 400 }),
      revert: removeIntegration,
    },
  ],
}
