import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { filesSource } from '../../../src/adapters/settings-file/index.ts'
import { AdminError } from '../../../src/core/error.ts'
import { isSecretSetting } from '../../../src/knowledge/settings.ts'
import { changedDotenv } from '../../../src/platforms/compose/place.ts'
import { projectAt } from '../../../src/platforms/compose/project.ts'
import { changedText, valueIn } from '../../../src/platforms/host/setting.ts'
import { parseEnvironmentFile } from '../../../src/platforms/host/environment.ts'
import type { Reader } from '../reader.ts'

const unit = `# settings
VENDOR_A=1
VENDOR_B="two words" # no comment
VENDOR_C='single'
VENDOR_D=a\\
b
; comment
export E=5
VENDOR_PASSWORD=s3cret
F=\${A:-x}
`

/** .env of a compose project, and the file of settings of a unit. */
export const env: Reader = {
  name: '.env',
  syntax: 'lines',
  seeds: [unit, 'A=1\n', 'COMPOSE_FILE=a.yml:b.yml\nCOMPOSE_PATH_SEPARATOR=:\nTAG="1\n2"\n', ...envFixtures()],
  async open(folder) {
    const file = join(folder, '.env')
    const files = filesSource()
    return {
      async read(input) {
        await writeFile(file, input)
        for (const [name, value] of parseEnvironmentFile(input.toString('utf8'))) isSecretSetting(name, value)
        await files.variable(join(folder, 'compose.yml'), 'TAG')
        await projectAt(folder, {})
        for (const name of ['VENDOR_A', 'VENDOR_B', 'VENDOR_D', 'TAG']) {
          for (const to of ['x y', '', 'a\'b"c', 'a\\']) {
            const next = changedText(input, name, to)
            // what was written is what is read
            if (next !== null && valueIn(next, name) !== to)
              throw new Error(
                `${name} was set to ${JSON.stringify(to)} and is read as ${JSON.stringify(valueIn(next, name))}`,
              )
            try {
              changedDotenv(input, name, to)
            } catch (error) {
              if (!(error instanceof AdminError)) throw error
            }
          }
          changedText(input, name, null)
        }
      },
    }
  },
}

function envFixtures(): string[] {
  return ['test/fixtures/compose/dotenv'].map((file) => readFileSync(file, 'utf8'))
}
