import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadConfiguration } from '../../../src/runtime/configuration/load.ts'
import { selectDeployment } from '../../../src/runtime/configuration/select.ts'
import { platformSettingsOf } from '../../../src/runtime/configuration/platform-of.ts'
import { shownAsJson } from '../reader.ts'
import type { Reader } from '../reader.ts'

const small = `current: prod
deployments:
  prod:
    platform: host
    host:
      unit: testops
      environmentFile: /etc/testops.env
    timeZone: Europe/Moscow
    database: {url: "jdbc:postgresql://db:5432/testops", user: testops, password: {env: DB_PASSWORD}}
    broker: {url: "amqp://mq:5672/vh", user: u, password: {file: secrets/mq}}
    api: {url: "https://testops.example.org"}
    apiToken: {command: [pass, show, testops]}
  stage:
    platform: kubernetes
    kubernetes: {context: stage, namespace: testops, release: testops, values: [values.yaml]}
  old:
    platform: compose
    compose: {project: testops, file: docker-compose.yml, service: testops}
`

/** testops-admin.yaml, up to what is opened of it: settings of the platform, and each deployment. */
export const configuration: Reader = {
  name: 'configuration',
  syntax: 'yaml',
  seeds: [
    small,
    ...readFileSync('templates/testops-admin.yaml', 'utf8')
      .split(/\n(?=# -{3,})/)
      .slice(0, 1),
    readFileSync('templates/testops-admin.yaml', 'utf8'),
  ],
  async open(folder) {
    const file = join(folder, 'testops-admin.yaml')
    return {
      async read(input) {
        await writeFile(file, input)
        const read = await loadConfiguration({ file, environment: {}, workingDirectory: folder })
        for (const name of read.settings.deployments.keys())
          shownAsJson(platformSettingsOf(selectDeployment(read, name)))
        selectDeployment(read)
      },
    }
  },
}
