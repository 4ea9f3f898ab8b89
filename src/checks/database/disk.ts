import { defineCheck } from '../../core/check.ts'
import type { Finding, Outcome, Remedy } from '../../core/check.ts'
import { typedOn } from '../../core/host.ts'
import { serviceFails } from '../support/consequences.ts'
import { hostOf, psql } from '../../domain/evidence.ts'
import { eachDatabase } from '../support/databases.ts'
import { bytes, percent } from '../../core/format.ts'
import { tolerant } from '../../domain/wanted.ts'
import { command } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import type { SqlText } from '../../core/sql-text.ts'

/**
 * Minimum free bytes: two segments of the write-ahead log, 16 MB each. With less, PostgreSQL may stop at the next one.
 */
const leastBytes = 2 * 16 * 1024 * 1024
/**
 * Free bytes and share below which a disk is nearly full: both must be short. On a large disk a few per cent are
 * plenty; on a small one a gigabyte is most of it.
 */
const scarceBytes = 1_000_000_000
const scarceShare = 0.05

/** What to check if a file cannot grow on a disk that has room. */
const otherLimits = 'check the quotas, the inodes (`df -i`), and the disk that holds temporary files'

export const databaseDisk = defineCheck({
  id: 'database/disk',
  title: 'database has room on its disk',
  reads: ['database'],
  explains: serviceFails,
  async run({ database }) {
    return eachDatabase(database, async (one): Promise<Outcome> => {
      const [space, storage, identity] = await Promise.all([
        one.temporarySpace(),
        one.storage(),
        tolerant(one.identity()),
      ])
      const { databaseBytes, dataDirectory, freeBytes, totalBytes } = storage
      const findings: Finding[] = []
      const room =
        freeBytes === null || totalBytes === null
          ? null
          : `${bytes(freeBytes)} of ${bytes(totalBytes)} are free (${percent(freeBytes, totalBytes)})`
      const df =
        dataDirectory === null || room === null
          ? []
          : [typedOn(hostOf(one.target), command`df -H ${dataDirectory}`), room]
      const size = [
        psql(one.target, identity?.user ?? null, 'SELECT pg_database_size(current_database())'),
        `${databaseBytes} (${bytes(databaseBytes)})`,
      ]
      if (!space.writable) {
        // what df shows may still be true, if another limit applies
        const isElsewhere = freeBytes !== null && !isScarce(freeBytes, totalBytes)
        const figure = room === null ? '' : isElsewhere ? `, although ${room}: ${otherLimits}` : `; ${room}`
        const message = `PostgreSQL at ${one.target} has no room left to write: ${space.message}${figure}`
        const sql =
          'SET work_mem = 64; SELECT count(*) FROM (SELECT n FROM generate_series(1, 60000) n ORDER BY n DESC) t'
        findings.push({
          message,
          evidence: [psql(one.target, identity?.user ?? null, sql), space.message, ...df, ...size],
        })
      } else if (freeBytes !== null && room !== null && isScarce(freeBytes, totalBytes)) {
        const message = `the disk that holds the data of PostgreSQL at ${one.target} is nearly full: ${room}`
        findings.push({ message, evidence: [...df, ...size] })
      }
      const [finding] = findings
      if (!finding)
        return {
          status: 'ok',
          detail: `PostgreSQL at ${one.target} can write to disk${room === null ? '' : `; ${room}`}`,
        }
      const isError = !space.writable || (freeBytes !== null && freeBytes < leastBytes)
      const remedy = moreRoom(one.target, dataDirectory)
      return { status: 'problem', severity: isError ? 'error' : 'warning', findings: [finding], remedy }
    })
  },
})

function isScarce(freeBytes: number, totalBytes: number | null): boolean {
  return (
    freeBytes < leastBytes || (freeBytes < scarceBytes && totalBytes !== null && freeBytes < totalBytes * scarceShare)
  )
}

function moreRoom(target: string, dataDirectory: string | null): Remedy {
  const asked = (sql: SqlText): ShellCommand => psql(target, 'postgres', sql)
  return {
    text:
      "Free space on the disk of PostgreSQL's data directory, or enlarge the disk. An unused replication slot " +
      'keeps old write-ahead log files on that disk. Never delete files in the data directory by hand.',
    commands: [
      ...(dataDirectory === null
        ? [asked('SHOW data_directory')]
        : [typedOn(hostOf(target), command`sudo du -xh --max-depth=2 ${dataDirectory} | sort -h | tail`)]),
      asked('SELECT slot_name, active, restart_lsn FROM pg_replication_slots'),
    ],
  }
}
