import { faultRows } from '../../src/lab/fault-list.ts'
import { sharedLab } from '../lab/support/own-lab.ts'
import { describeRows, isOfLock } from './matrix.ts'

describeRows(sharedLab(), faultRows().filter(isOfLock))
