import type { Turn } from '@model-gateway/contracts';
import { reasoningEffort } from '@model-gateway/dialects';
import { choosesFreely, needsBudget, outputTokensMax, withoutThinking } from './model-rules.ts';

interface Thinking {
  readonly type: 'enabled' | 'adaptive' | 'disabled' | 'between_tools';
  readonly budget_tokens?: number;
}

/** What a request says about thinking. */
export interface ThinkingFields {
  readonly thinking?: Thinking;
  /** The effort in `output_config`. */
  readonly effort?: string;
  /** Whether the model thinks, so that the API takes no sampling options. */
  readonly isThinking: boolean;
  /** Whether the client asked for thoughts that this request cannot have. */
  readonly isLeftOut: boolean;
}

/** The API requires a limit; chat completions have none by default. */
const MAX_TOKENS_DEFAULT = 8_192;
const BUDGET_MIN = 1_024;
/** The number of tokens that each effort may think where a model needs a budget. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: BUDGET_MIN,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
};

/** The limit of an answer: without one by request, as much as the model can. */
export const maxTokensOf = ({ model, maxTokens, isUnlimited }: Turn): number =>
  maxTokens ?? (isUnlimited === true ? outputTokensMax(model) : MAX_TOKENS_DEFAULT);

/** How a model thinks. A demanded tool and a small limit leave no room for thoughts: the API would refuse both together. */
export function thinkingOf(turn: Turn): ThinkingFields {
  const { model, reasoning } = turn;
  const maxTokens = maxTokensOf(turn);
  const { budgetTokens } = reasoning ?? {};
  const isFree = choosesFreely(model);
  const effort = isFree ? reasoningEffort(reasoning) : reasoning?.effort;
  if (effort === 'none') return notThinking(model);
  const hasBudget = needsBudget(model);
  const named = effort === 'minimal' ? 'low' : effort;
  const known = named === undefined || hasBudget ? {} : { effort: named };
  const budget = isFree ? undefined : budgetTokens;
  const wanted = budget ?? (hasBudget ? BUDGETS[effort ?? ''] : undefined);
  if (effort === undefined && wanted === undefined) return { isThinking: false, isLeftOut: false };
  if (demandsTool(turn) || (wanted !== undefined && maxTokens <= BUDGET_MIN)) {
    return { ...known, isThinking: false, isLeftOut: true };
  }
  if (wanted === undefined) {
    const thinking = { type: 'adaptive' } as const;
    return { ...known, thinking, isThinking: true, isLeftOut: false };
  }
  const tokens = Math.min(Math.max(wanted, BUDGET_MIN), maxTokens - 1);
  const thinking = { type: 'enabled', budget_tokens: tokens } as const;
  return { ...known, thinking, isThinking: true, isLeftOut: false };
}

/** A model that always thinks gets the least effort. */
function notThinking(model: string): ThinkingFields {
  const type = withoutThinking(model);
  return type === undefined
    ? { effort: 'low', isThinking: true, isLeftOut: true }
    : { thinking: { type }, isThinking: false, isLeftOut: false };
}

/** Whether a tool must be called. */
export const demandsTool = ({ tools, toolChoice }: Turn): boolean =>
  tools.length > 0 && (toolChoice === 'required' || typeof toolChoice === 'object');
