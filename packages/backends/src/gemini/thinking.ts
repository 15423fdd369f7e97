import type { Turn } from '@model-gateway/contracts';
import { reasoningEffort } from '@model-gateway/dialects';

interface Thinking {
  readonly config: Readonly<Record<string, unknown>>;
  /** Whether the client asked for no thoughts and the model always thinks. */
  readonly isLeftOut: boolean;
}

/** From the third generation on, models take a level and want back the signatures of their calls. */
export const isNewer = (model: string): boolean =>
  /gemini-(?:[3-9]|(?:pro|flash|flash-lite)-latest)/.test(model);

const TAKES_BUDGET = /gemini-3-pro-image/;
/** Small models before 3.7 think least. */
const HAS_MINIMAL = /gemini-3(?:\.[0-6])?-flash|flash-lite/;
const HAS_XHIGH = /gemini-4-hydrogen/;
const LEVELS: readonly string[] = ['low', 'medium', 'high'];

/** The number of tokens that each effort may think. */
const BUDGETS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 512,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
};
const LARGE_MODEL = /-pro/;
const LARGE_MODEL_BUDGET_MIN = 128;
const LARGE_MODEL_BUDGET_MAX = 32_768;
const BUDGET_MAX = 24_576;

/** How long a model thinks; undefined if the client does not say. */
export function thinkingOf({ model, reasoning }: Turn): Thinking | undefined {
  if (reasoning === undefined) return undefined;
  const isNone = reasoning.effort === 'none';
  const shown = isNone ? {} : { includeThoughts: true };
  if (isNewer(model) && !TAKES_BUDGET.test(model)) {
    const level = levelOf(model, reasoningEffort(reasoning) ?? '');
    return {
      config: { ...shown, ...(level === undefined ? {} : { thinkingLevel: level }) },
      isLeftOut: isNone,
    };
  }
  const wanted = reasoning.budgetTokens ?? BUDGETS[reasoning.effort ?? 'medium'];
  if (wanted === undefined) return { config: shown, isLeftOut: false };
  const isLarge = LARGE_MODEL.test(model);
  const least = isLarge ? LARGE_MODEL_BUDGET_MIN : 0;
  const most = isLarge ? LARGE_MODEL_BUDGET_MAX : BUDGET_MAX;
  const thinkingBudget = Math.min(Math.max(wanted, least), most);
  return { config: { ...shown, thinkingBudget }, isLeftOut: isNone && isLarge };
}

function levelOf(model: string, effort: string): string | undefined {
  if (effort === 'none' || effort === 'minimal') return HAS_MINIMAL.test(model) ? 'minimal' : 'low';
  if (effort === 'xhigh' || effort === 'max') return HAS_XHIGH.test(model) ? 'xhigh' : 'high';
  return LEVELS.includes(effort) ? effort : undefined;
}
