import { describe } from 'vitest'
import { spread } from '../support/campaign.ts'
import { composeProgram } from '../support/compose-program.ts'
import { composeFilesContract } from './compose-files.ts'

// outside of a campaign, the two take turns
describe('by the fake', () => composeFilesContract(null, (rows) => spread(rows, 2, 0)))

const program = await composeProgram()

describe('by Docker Compose 2.26', () => composeFilesContract(program, (rows) => spread(rows, 2, 1)))
