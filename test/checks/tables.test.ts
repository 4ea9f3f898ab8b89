import { describe, expect, it } from 'vitest'
import { judged } from './table.ts'
import { tables } from './tables.ts'

for (const { check, cases } of tables) {
  describe(check.id, () => {
    it.each(cases)('$situation', async (one) => {
      const report = await judged(check, one)
      const { status, severity, because, findings, detail, reason, error, remedy } = report
      expect({ status, severity, because, code: error?.code }, JSON.stringify(report, null, 2)).toEqual({
        status: one.status,
        severity: one.severity,
        because: one.because,
        code: one.code ?? (one.status === 'unknown' ? error?.code : undefined),
      })
      const said = JSON.stringify({ findings, detail, reason, error, remedy })
      for (const part of one.says ?? []) expect(said).toMatch(part)
      for (const part of one.silentOn ?? []) expect(said).not.toMatch(part)
      for (const { message, evidence } of findings ?? []) {
        expect(evidence.length).toBeGreaterThan(0)
        expect(evidence).not.toContain(message)
      }
      if (status === 'problem' && because === undefined) {
        expect(remedy?.text).toMatch(/^[A-Z].*\.$/)
        expect(remedy?.commands.length).toBeGreaterThan(0)
      }
      expect(said).not.toMatch(
        /undefined|NaN|\[object|Invalid Date|\{(deployment|start|stop|restart|status|logs|settings|edit|values)\}/,
      )
      const typed = [...(findings ?? []).flatMap(({ evidence }) => evidence), ...(remedy?.commands ?? [])]
      expect(typed.filter((line) => !isAimed(line))).toEqual([])
    })
  })
}

/** Whether what is typed names what it is for, and shows no secret to others on the machine. */
function isAimed(typed: string): boolean {
  if (/Authorization|token=/.test(typed)) return /^(?:read -rs TOKEN && )?printf /.test(typed)
  if (/^psql /.test(typed)) return / -h \S+ -p \d+ (-U \S+ )?-d \S+ -c /.test(typed)
  if (/^redis-cli /.test(typed)) return / -h \S+ -p \d+/.test(typed)
  if (/^(rabbitmq|timedatectl|df |sudo du )/.test(typed)) return / # on \S+$|^timedatectl$/.test(typed)
  return !/^testops-admin (doctor|migrate|reset|flush|set-env|unlock)/.test(typed) || typed.includes(' -d prod')
}
