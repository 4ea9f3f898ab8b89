import { escapeLiteral } from 'pg'
import type { ChangeSet } from '../liquibase/update.ts'
import type { PendingMigration } from '../machine.ts'
import { hashPassword, hashToken, seedProjects, seedTrees, seedUsers } from './seeds.ts'

const file = 'db/changelog/db.changelog-master.yaml'
const author = 'testops'

/** Returns the change sets for everything that the service creates in its database, and those of a newer version. */
export function changeSets(migration: PendingMigration | null): ChangeSet[] {
  return [...own(), ...(migration ? brought(migration) : [])]
}

function own(): ChangeSet[] {
  return [
    { id: '5.0-users', author, file, statements: users },
    { id: '5.0-projects', author, file, statements: projects },
    { id: '5.0-integrations', author, file, statements: integrations },
    { id: '5.11-tree-structure', author, file, statements: treeStructure },
    { id: '5.11-jobs', author, file, statements: jobs },
    { id: '5.27-traces', author, file, statements: traces },
    { id: '5.27-tree-jobs', author, file, statements: treeJobs },
    { id: '5.27-test-cases', author, file, statements: testCases },
    // hashes get a new salt each time, so this one is built last and its text is never compared
    { id: '5.27-seeds', author, file, statements: seeds() },
  ]
}

const users = [
  `CREATE TABLE user_account (
     id BIGINT PRIMARY KEY, username VARCHAR(255) NOT NULL UNIQUE, password VARCHAR(255) NOT NULL,
     authority VARCHAR(64) NOT NULL, enabled BOOLEAN NOT NULL DEFAULT TRUE)`,
  `CREATE TABLE api_token (
     id BIGSERIAL PRIMARY KEY, user_id BIGINT NOT NULL REFERENCES user_account (id), name VARCHAR(255) NOT NULL,
     token_hash VARCHAR(64) NOT NULL UNIQUE)`,
]

const projects = [
  `CREATE TABLE project (
     id BIGINT PRIMARY KEY, name VARCHAR(255) NOT NULL UNIQUE, abbr VARCHAR(16) NOT NULL,
     is_public BOOLEAN NOT NULL DEFAULT TRUE)`,
  `CREATE TABLE project_role (
     project_id BIGINT NOT NULL REFERENCES project (id), user_id BIGINT NOT NULL REFERENCES user_account (id),
     role VARCHAR(64) NOT NULL, PRIMARY KEY (project_id, user_id))`,
  'CREATE TABLE tree (id BIGINT PRIMARY KEY, project_id BIGINT NOT NULL REFERENCES project (id), name ' +
    'VARCHAR(255) NOT NULL)',
  // one row for each test case in a tree; the path is the text of a JSON array
  `CREATE TABLE tree_data (
     id BIGSERIAL PRIMARY KEY, tree_id BIGINT NOT NULL REFERENCES tree (id), test_case_id BIGINT NOT NULL,
     path TEXT NOT NULL)`,
]

const integrations = [
  `CREATE TABLE integration (
     id BIGSERIAL PRIMARY KEY, name VARCHAR(255) NOT NULL UNIQUE, url VARCHAR(1024) NOT NULL, username VARCHAR(255),
     password VARCHAR(255))`,
]

const treeStructure = [
  'ALTER TABLE tree ADD COLUMN migrated BOOLEAN NOT NULL DEFAULT FALSE',
  `CREATE TABLE tree_node (
     id BIGSERIAL PRIMARY KEY, tree_id BIGINT NOT NULL REFERENCES tree (id), test_case_id BIGINT NOT NULL,
     depth INTEGER NOT NULL, name VARCHAR(255) NOT NULL)`,
]

const jobs = [
  `CREATE TABLE async_job (
     id BIGSERIAL PRIMARY KEY, name VARCHAR(255) NOT NULL, status VARCHAR(32) NOT NULL,
     created_date TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now(),
     last_modified_date TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now(), context TEXT)`,
]

/** Columns for who made a row, and when. */
const traces = [
  ...['project', 'tree'].map(
    (table) =>
      `ALTER TABLE ${table} ADD COLUMN created_by VARCHAR(255) NOT NULL DEFAULT 'admin',
         ADD COLUMN created_date TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now(),
         ADD COLUMN last_modified_by VARCHAR(255) NOT NULL DEFAULT 'admin',
         ADD COLUMN last_modified_date TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT now()`,
  ),
  "ALTER TABLE project ADD COLUMN description TEXT NOT NULL DEFAULT ''",
]

/** Columns for the tree that a job moves. The indexes keep each move fast when there are many trees. */
const treeJobs = [
  'ALTER TABLE async_job ADD COLUMN project_id BIGINT, ADD COLUMN tree_id BIGINT',
  'CREATE INDEX tree_project ON tree (project_id)',
  'CREATE INDEX tree_data_tree ON tree_data (tree_id)',
  'CREATE INDEX tree_node_tree ON tree_node (tree_id)',
]

/** A project must not hold two automated test cases that differ only in their ids (SPEC.md 2). */
const testCases = [
  `CREATE TABLE test_case (
     id BIGSERIAL PRIMARY KEY, project_id BIGINT NOT NULL REFERENCES project (id), full_name TEXT NOT NULL,
     UNIQUE (project_id, full_name))`,
]

function seeds(): string[] {
  const text = escapeLiteral
  return [
    ...seedUsers.map(
      (user) =>
        'INSERT INTO user_account (id, username, password, authority) VALUES ' +
        `(${user.id}, ${text(user.username)}, ${text(hashPassword(user.password))}, ${text(user.role)})`,
    ),
    ...seedUsers.map(
      (user) =>
        `INSERT INTO api_token (user_id, name, token_hash) VALUES (${user.id}, 'practice', ` +
        `${text(hashToken(user.apiToken))})`,
    ),
    ...seedProjects.map(
      ({ id, name, abbr }) => `INSERT INTO project (id, name, abbr) VALUES (${id}, ${text(name)}, ${text(abbr)})`,
    ),
    ...seedUsers.flatMap((user) =>
      user.owns.map(
        (project) => `INSERT INTO project_role (project_id, user_id, role) VALUES (${project}, ${user.id}, 'OWNER')`,
      ),
    ),
    ...seedTrees.map(
      ({ id, projectId, name }) =>
        `INSERT INTO tree (id, project_id, name) VALUES (${id}, ${projectId}, ${text(name)})`,
    ),
    `INSERT INTO tree_data (tree_id, test_case_id, path)
     SELECT tree.id, tree.id * 100 + number, format('["%s", "group %s"]', tree.name, number % 3)
     FROM tree, generate_series(1, 12) number`,
  ]
}

/** Returns change sets of many short statements with pauses, so a killed migration leaves no statement running. */
function brought({ name, changeSets: count, statements, statementMs }: PendingMigration): ChangeSet[] {
  const step = 'UPDATE tree_data SET path = path WHERE id = (SELECT min(id) FROM tree_data)'
  return Array.from({ length: count }, (_, index) => ({
    id: `${name}-${index + 1}`,
    author,
    file: 'db/changelog/db.changelog-next.yaml',
    statements: Array.from({ length: statements }, () => step),
    pauseMs: statementMs,
  }))
}
