import { describe } from 'vitest'
import { composeProgram } from '../support/compose-program.ts'
import { composeFilesContract } from './compose-files.ts'

describe('by the fake', () => composeFilesContract(null))

const program = await composeProgram()

describe('by Docker Compose 2.26', () => composeFilesContract(program))
