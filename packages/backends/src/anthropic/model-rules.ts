/** What models of this API refuse, by their ids. A model with another id, such as a name that a proxy gives, takes everything. */

/** Up to 4.5 they neither choose by themselves how long they think nor know an effort. */
export const needsBudget = (model: string): boolean =>
  /claude-(?:3|(?:opus|sonnet|haiku)-4-(?:[015]\b|2025))/.test(model);

/** From 4.7 on they think as long as they choose, and have no options of the sampling. */
export const choosesFreely = (model: string): boolean =>
  /claude-(?:(?:opus|sonnet|haiku)-(?:4[-.][7-9]\b|[5-9])|fable|mythos)/.test(model);

/** Those of the fourth generation take one of `temperature` and `top_p`. */
export const takesOneSampling = (model: string): boolean =>
  /claude-(?:opus|sonnet|haiku)-4/.test(model);

/** How a model is asked not to think: the last ones always think, or are only silent before they begin. */
export function withoutThinking(model: string): 'disabled' | 'between_tools' | undefined {
  if (/claude-sonnet-5[-.]5/.test(model)) return 'between_tools';
  return /claude-(?:opus-5[-.]5|fable|mythos)/.test(model) ? undefined : 'disabled';
}

/** The last ones choose by themselves whether they call a tool. */
export const refusesDemandedTool = (model: string): boolean =>
  /claude-(?:(?:opus|sonnet)-5[-.]5|(?:fable|mythos)-5[-.][1-9])/.test(model);

/** How many tokens a model generates at most; of one that is not known, what every one can. */
export function outputTokensMax(model: string): number {
  if (/claude-(?:3-[57]-sonnet|3-5-haiku)/.test(model))
    return model.includes('3-7') ? 64_000 : 8_192;
  if (/claude-3/.test(model)) return 4_096;
  if (/claude-opus-4-(?:[01]\b|2025)/.test(model)) return 32_000;
  return /claude-(?:opus|sonnet|haiku|fable|mythos)/.test(model) ? 64_000 : 8_192;
}
