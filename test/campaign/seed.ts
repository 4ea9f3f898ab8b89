export { randomFrom } from '../support/random.ts'

/** What chance is made of: printed, and given again with CAMPAIGN_SEED to see the same. */
export const seed = process.env['CAMPAIGN_SEED'] ?? new Date().toISOString().slice(0, 19)
process.stderr.write(`CAMPAIGN_SEED=${seed}\n`)
