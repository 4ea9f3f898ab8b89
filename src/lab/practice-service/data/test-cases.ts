import { DatabaseError } from 'pg'
import type { Database } from '../database/pool.ts'
import type { Log } from '../log/log.ts'

/** The message that the web interface shows (SPEC.md 7). */
const conflict = 'Request failed with status code 409'
/** PostgreSQL's code for a row that already exists. */
const uniqueViolation = '23505'

/**
 * Imports results and moves test cases. The API's methods for this are not documented, so the lab uses its control
 * port.
 */
export interface TestCases {
  /**
   * imports results: makes a test case for each test that has none in the project; returns ids in the order of the
   * names
   */
  importResults(projectId: number, fullNames: readonly string[]): Promise<number[]>
  /** moves a test case; returns null, or the service's message if the project already holds an identical one */
  move(testCase: number, projectId: number): Promise<string | null>
}

export function testCases(database: Database, log: Log): TestCases {
  return {
    importResults: async (projectId, fullNames) => {
      await database.query(
        `INSERT INTO test_case (project_id, full_name) SELECT $1, name FROM unnest($2::text[]) name
         WHERE NOT EXISTS (SELECT 1 FROM test_case WHERE project_id = $1 AND full_name = name)`,
        [projectId, fullNames],
      )
      const found = await database.query<{ id: number }>(
        'SELECT id::int AS id FROM test_case WHERE project_id = $1 AND full_name = ANY($2) ORDER BY array_position($2, full_name)',
        [projectId, fullNames],
      )
      return found.map(({ id }) => id)
    },
    move: async (testCase, projectId) => {
      try {
        await database.query('UPDATE test_case SET project_id = $2 WHERE id = $1', [testCase, projectId])
        return null
      } catch (error) {
        if (!(error instanceof DatabaseError) || error.code !== uniqueViolation) throw error
        log.from('nio-8080-exec-2').warn('vendor.report.testcase.TestCaseService', conflict)
        return conflict
      }
    },
  }
}
