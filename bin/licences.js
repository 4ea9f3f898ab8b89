// The licences that bundled libraries may have, and where their texts are; the build fails on anything else.

/** Licences (SPDX) under which a library may be shipped within ours: all require only their notice. */
export const allowed = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT']

/**
 * Packages without a licence file, as reviewed; each version needs a new review. The text is part of another of their
 * files, or belongs to a package from the same repository and author.
 */
export const reviewed = {
  'pg-types@2.2.0': { file: 'README.md', from: /^## license$/m },
  'pgpass@1.0.5': { file: 'README.md', from: /^## License$/m },
  'proxy-agent-negotiate@1.1.0': { package: 'http-proxy-agent', file: 'LICENSE' },
}

/** Package of the helpers that esbuild itself adds to each bundle. */
export const ofTheBundler = 'node_modules/esbuild'
