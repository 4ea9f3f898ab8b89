import { CommandHelp, Help } from '@oclif/core'

/** The help of one command, whose usage has no trace of flags that oclif has put elsewhere in the line. */
class OwnCommandHelp extends CommandHelp {
  protected override defaultUsage(): string {
    return tidyUsage(super.defaultUsage())
  }
}

/** Removes the bars and spaces that oclif leaves where a flag stands in several groups: `[--output FILE |  | ]`. */
export function tidyUsage(usage: string): string {
  return usage
    .replace(/(?: *\|)+ *\]/g, ']')
    .replace(/ +\]/g, ']')
    .replace(/ {2,}/g, ' ')
}

/** The help of this program. */
export class OwnHelp extends Help {
  protected override CommandHelpClass = OwnCommandHelp
}
