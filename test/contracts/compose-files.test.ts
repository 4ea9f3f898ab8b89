import { describe } from 'vitest'
import { spread } from '../support/campaign.ts'
import { composeProgram } from '../support/compose-program.ts'
import { composeFilesContract } from './compose-files.ts'

describe('by the fake', () => composeFilesContract(null, (rows) => [...rows]))

const program = await composeProgram()

// always of the same version: what changes is this program, of which each row is tried by the fake
describe('by Docker Compose 2.26', () => composeFilesContract(program, (rows) => spread(rows, 2, 1)))
