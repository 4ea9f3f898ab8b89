// What the licences of bundled libraries may be, and where their texts stand; the build fails on anything else.

/** Licences (SPDX) under which a library may be shipped within ours: all ask for their notice alone. */
export const allowed = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT']

/**
 * Packages without a file of their licence, as they were looked at: each version anew. The text is a part of another
 * file of theirs, or that of a package from the same repository and author.
 */
export const reviewed = {
  'pg-types@2.2.0': { file: 'README.md', from: /^## license$/m },
  'pgpass@1.0.5': { file: 'README.md', from: /^## License$/m },
  'proxy-agent-negotiate@1.1.0': { package: 'http-proxy-agent', file: 'LICENSE' },
}

/** What esbuild puts into each bundle by itself: helpers of its own. */
export const ofTheBundler = 'node_modules/esbuild'
