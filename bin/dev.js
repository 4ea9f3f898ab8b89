#!/usr/bin/env node
// Builds, then runs: `node bin/dev.js doctor -d lab`.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

execFileSync(process.execPath, [fileURLToPath(new URL('build.js', import.meta.url))], {
  stdio: ['ignore', 'ignore', 'inherit'],
})
await import('./run.js')
