import { CORE_SCHEMA, YAML11_SCHEMA, defineScalarTag, mapTag, seqTag } from 'js-yaml'
import type { Schema } from 'js-yaml'

/**
 * Tags of compose files: a value with one is removed, or replaces what it would be merged with (compose-spec,
 * 13-merge.md).
 */
const composeTags = ['!reset', '!override'].flatMap((tagName) => [
  defineScalarTag(tagName, { resolve: (text) => (tagName === '!reset' ? null : text), identify: () => false }),
  { ...seqTag, tagName, identify: () => false },
  { ...mapTag, tagName, identify: () => false },
])

/** YAML 1.1, as Helm and compose programs read it, with merges. */
export const yaml11: Schema = YAML11_SCHEMA.withTags(composeTags)

/** YAML 1.2. */
export const yaml12: Schema = CORE_SCHEMA.withTags(composeTags)
