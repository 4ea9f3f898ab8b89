import type { Look, Looked } from './look.ts'

const begin = String.raw`(?:^|file:\/\/|[\s"'=(,;:<[])`
/** folders of temporary files, and where servers of CI check out: GitLab, Jenkins, GitHub Actions, Azure Pipelines */
const ofRuns = new RegExp(
  String.raw`${begin}\/(?:private\/)?(?:tmp|var\/tmp|var\/folders|var\/lib\/jenkins|var\/jenkins_home|github\/workspace|__w)\/[^\s"'/]`,
)
/** these may be paths of a site, too */
const ofMachines = new RegExp(String.raw`${begin}\/(?:(?:home|Users)\/[^\s"'/]+|root|builds)\/[^\s"'/]`)
const ofWindows =
  /(?:^|[^a-z])[a-z]:[\\/]+(?:Users[\\/]+[^\\/\s]|Documents and Settings[\\/]|(?:[^\\/:*?"<>|\r\n]{1,100}[\\/]+){0,9}(?:Temp|tmp)[\\/]|(?:jenkins|actions-runner|BuildAgent|agent)[\\/]+(?:_?work|workspace)|a[\\/]+(?:([^\\/\s]{1,100})[\\/]+\1(?:[\\/]|$)|\d+[\\/]+[abs](?:[\\/]|$)))/i
const homeAlone = /^\/(?:home|Users)\/[^\s"'/]+\/?$/

/** names of parameters whose paths are those of a site */
const siteName = /ur[il]|route|endpoint|page|href|link|request|resource/i
const folderName = /home|dir|folder|cwd|workspace|root/i

export function pathLook({ text, name }: Looked): Look | null {
  const isPath =
    (text.includes('/') &&
      (ofRuns.test(text) ||
        (!siteName.test(name) && ofMachines.test(text)) ||
        (folderName.test(name) && homeAlone.test(text)))) ||
    ofWindows.test(text)
  return isPath ? { what: 'a path of one machine or run' } : null
}
