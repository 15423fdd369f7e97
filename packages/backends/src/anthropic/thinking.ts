import type { Turn } from '@model-gateway/dialects';

interface Thinking {
  readonly type: 'enabled' | 'adaptive' | 'disabled';
  readonly budget_tokens?: number;
}

/** What a request says about thinking. */
export interface ThinkingFields {
  readonly thinking?: Thinking;
  /** For `output_config`. */
  readonly effort?: string;
  /** Whether the model thinks, so that the API takes no sampling options. */
  readonly isThinking: boolean;
  /** Whether the client asked for thoughts that this request cannot have. */
  readonly isLeftOut: boolean;
}

/** The API requires a limit; chat completions have none by default. */
export const MAX_TOKENS_DEFAULT = 8_192;
const BUDGET_MIN = 1_024;
/** Models up to 4.5 neither choose by themselves how long they think nor know an effort. */
const BUDGET_MODEL = /claude-(?:3|(?:opus|sonnet|haiku)-4-(?:[015]\b|2025))/;
/** The number of tokens that each effort may think there. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: BUDGET_MIN,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
};

/** How a model thinks. A demanded tool and a small limit leave no room for thoughts: the API would refuse both together. */
export function thinkingOf(turn: Turn): ThinkingFields {
  const { model, reasoning, maxTokens = MAX_TOKENS_DEFAULT } = turn;
  const { effort, budgetTokens } = reasoning ?? {};
  if (effort === 'none') {
    return { thinking: { type: 'disabled' }, isThinking: false, isLeftOut: false };
  }
  const hasBudget = BUDGET_MODEL.test(model);
  const named = effort === 'minimal' ? 'low' : effort;
  const known = named === undefined || hasBudget ? {} : { effort: named };
  const wanted = budgetTokens ?? (hasBudget ? BUDGETS[effort ?? ''] : undefined);
  if (effort === undefined && wanted === undefined) return { isThinking: false, isLeftOut: false };
  if (demandsTool(turn) || (wanted !== undefined && maxTokens <= BUDGET_MIN)) {
    return { ...known, isThinking: false, isLeftOut: true };
  }
  if (wanted === undefined) {
    const thinking = { type: 'adaptive' } as const;
    return { ...known, thinking, isThinking: true, isLeftOut: false };
  }
  const budget = Math.min(Math.max(wanted, BUDGET_MIN), maxTokens - 1);
  const thinking = { type: 'enabled', budget_tokens: budget } as const;
  return { ...known, thinking, isThinking: true, isLeftOut: false };
}

const demandsTool = ({ tools, toolChoice }: Turn): boolean =>
  tools.length > 0 && (toolChoice === 'required' || typeof toolChoice === 'object');
