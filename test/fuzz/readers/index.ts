import type { Reader } from '../reader.ts'
import { compose } from './compose.ts'
import { configuration } from './configuration.ts'
import { cpuinfo } from './cpuinfo.ts'
import { env } from './env.ts'
import { journal } from './journal.ts'
import { kubeconfig } from './kubeconfig.ts'
import { log } from './log.ts'
import { managementAnswers } from './management-api.ts'
import { plan } from './plan.ts'
import { result } from './result.ts'
import { serviceAnswers } from './service-api.ts'
import { values } from './values.ts'

/** Every reader of texts from outside. */
export const readers: readonly Reader[] = [
  journal,
  plan,
  configuration,
  values,
  compose,
  env,
  kubeconfig,
  cpuinfo,
  log,
  result,
  managementAnswers,
  serviceAnswers,
]
