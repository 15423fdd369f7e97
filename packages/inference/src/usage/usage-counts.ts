import type { UsageEvent } from '@model-gateway/contracts';
import { perName, type CounterSeries, type Metrics } from '@model-gateway/kernel';

/** Metrics of the metered requests. */
export type UsageCounts = (
  usage: Pick<UsageEvent, 'model' | 'prompt_tokens' | 'completion_tokens' | 'cost'>,
) => void;

/** The counters of one model. */
interface ModelCounts {
  readonly served: CounterSeries;
  readonly prompt: CounterSeries;
  readonly completion: CounterSeries;
  readonly cost: CounterSeries;
  readonly unpriced: CounterSeries;
}

/** Models are those that backends list; a limited number of them have their own series. */
const MODELS_MAX = 200;

export function createUsageCounts(metrics: Metrics): UsageCounts {
  const served = metrics.counter({
    name: 'service_served_requests_total',
    help: 'Requests that were served and metered, by the model that answered.',
    labels: ['model'],
  });
  const tokens = metrics.counter({
    name: 'service_tokens_total',
    help: 'Tokens that were metered: of prompts and of completions.',
    labels: ['model', 'kind'],
  });
  const spent = metrics.counter({
    name: 'service_cost_usd_total',
    help: 'What was metered, in US dollars before group multipliers.',
    labels: ['model'],
  });
  const unpriced = metrics.counter({
    name: 'service_unpriced_requests_total',
    help: 'Requests that were served by a model without a price; they are not charged.',
    labels: ['model'],
  });
  const countsOf = perName<ModelCounts>(MODELS_MAX, (model) => ({
    served: served.series({ model }),
    prompt: tokens.series({ model, kind: 'prompt' }),
    completion: tokens.series({ model, kind: 'completion' }),
    cost: spent.series({ model }),
    unpriced: unpriced.series({ model }),
  }));
  return ({ model, prompt_tokens, completion_tokens, cost }) => {
    const counts = countsOf(model);
    counts.served.inc();
    counts.prompt.inc(prompt_tokens);
    counts.completion.inc(completion_tokens);
    if (cost === null) counts.unpriced.inc();
    else counts.cost.inc(cost);
  };
}
