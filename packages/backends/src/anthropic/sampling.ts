import type { Turn } from '@model-gateway/contracts';
import { numberOf } from '@model-gateway/kernel';
import { choosesFreely, takesOneSampling } from './model-rules.ts';

/** The options of the sampling for a request. */
interface Sampling {
  readonly fields: Readonly<Record<string, number>>;
  /** The names of those that are left out, other than defaults. */
  readonly ignored: readonly string[];
}

const DEFAULT = 1;

/** A model that thinks takes none of them. */
export function samplingOf(
  { model, temperature, topP, topK }: Turn,
  { isThinking }: { readonly isThinking: boolean },
): Sampling {
  const given: Readonly<Record<string, number>> = {
    // Chat completions go up to 2, this API up to 1.
    ...(temperature === undefined ? {} : { temperature: temperature > 1 ? 1 : temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: topK }),
  };
  if (isThinking || choosesFreely(model)) return { fields: {}, ignored: changedIn(given) };
  const { top_p: second, ...others } = given;
  return second !== undefined && temperature !== undefined && takesOneSampling(model)
    ? { fields: others, ignored: changedIn({ top_p: second }) }
    : { fields: given, ignored: [] };
}

const changedIn = (fields: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(fields).flatMap(([name, value]) => (numberOf(value) === DEFAULT ? [] : [name]));
