import { passingFolder } from '../support/passing-folder.ts'
import { kubeconfigIn } from './kubeconfig.ts'

/** A file for kubectl that leads to the server at `url`, gone when all tests of the file have ended. */
export async function kubeconfigFor(url: string): Promise<string> {
  return kubeconfigIn(await passingFolder(), url)
}
