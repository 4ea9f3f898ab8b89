import { passingFolder } from '../support/passing-folder.ts'
import { kubeconfigIn } from './kubeconfig.ts'

/** A file for kubectl that leads to the server at `url`, gone when the test ends. */
export async function kubeconfigFor(url: string): Promise<string> {
  return kubeconfigIn(await passingFolder(), url)
}
