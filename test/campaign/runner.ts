import { TestRunner } from 'vitest'
import { shareOf } from '../runner/campaign.ts'

type Test = Parameters<TestRunner['onBeforeRunTask']>[0]

/**
 * Of each file something is run; the last lines of a campaign say for how much there was no time. What is left out has
 * no hooks either: one that ends what `beforeEach` was to begin would wait for it.
 */
export default class CampaignRunner extends TestRunner {
  readonly #until = shareOf(process.env)
  #hasBegun = false

  constructor(...given: ConstructorParameters<typeof TestRunner>) {
    super(...given)
    // for what a test does again and again: `withinShare`
    process.env['CAMPAIGN_SHARE_END'] = String(this.#until)
  }

  override async onBeforeRunTask(test: Test): Promise<void> {
    if (this.#hasBegun && Date.now() > this.#until) {
      test.mode = 'skip'
      test.result = { state: 'skip' }
    }
    this.#hasBegun = true
    await super.onBeforeRunTask(test)
  }
}
