export { randomFrom } from '../support/random.ts'

/** What chance is made of (vitest.config.ts): given again with CAMPAIGN_SEED, a campaign is the same. */
export const seed = process.env['CAMPAIGN_SEED']!
