import { appendFileSync } from 'node:fs'
import { nothing } from '../fault.ts'
import type { Fault } from '../fault.ts'
import { createLog } from '../practice-service/log/log.ts'
import { throwable } from '../practice-service/log/throwable.ts'
import { restartLabService, rotateLog, stopLabService, waitUntilServing } from '../service.ts'
import { unitIn } from '../service-control/unit.ts'

/** A name that every machine resolves. */
const host = 'localhost'
const hoursAgo = 2

export const oldUnknownHost: Fault = {
  id: 'old-unknown-host',
  kind: 'healthy',
  title: 'an old UnknownHostException for a host that resolves again',
  repair: 'nothing to do',
  cases: [
    {
      variant: null,
      made: `the log has UnknownHostExceptions from ${hoursAgo} hours ago, for a host that resolves`,
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
            throwable('java.net.UnknownHostException', host, frames),
          )
        }
        await restartLabService(lab)
        await waitUntilServing(lab)
      },
      revert: nothing,
    },
  ],
}
