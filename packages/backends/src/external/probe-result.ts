import { isCheapJson, tryParseJson } from '@model-gateway/kernel';
import type { Probe } from '@model-gateway/router';
import { z } from 'zod';
import { isSuccess } from '../transport/upstream-http.ts';
import { readListedModel, type ListedModel } from './listed-model.ts';

interface ProbedBackend {
  /** Ids that are served even if the upstream does not list them. */
  readonly models: readonly string[];
  /** Whether a server whose listing fails with a 5xx may still serve those; otherwise it is loading. */
  readonly isListingOptional: boolean;
  /** Whether the upstream lists other things than it serves. */
  readonly servesOnlyGiven?: boolean;
}

/** Statuses of servers without a listing, or without one for this key. */
const UNLISTED_STATUSES: readonly number[] = [401, 403, 404, 405];
const SERVER_ERROR = 500;
const LISTED_MAX = 10_000;

const listing = z.object({ data: z.unknown(), models: z.unknown() }).partial();

/** What the answer to a models listing says about a backend. */
export function probeResult(
  status: number,
  text: string,
  { models: statics, isListingOptional, servesOnlyGiven = false }: ProbedBackend,
): Probe {
  if (!isSuccess(status)) {
    return unlistedProbe(status, { models: statics, isListingOptional });
  }
  if (servesOnlyGiven) return { state: 'Healthy', models: statics };
  const answer = listing.safeParse(isCheapJson(text) ? tryParseJson(text) : undefined);
  const entries = answer.success ? (answer.data.data ?? answer.data.models) : [];
  // An unreadable entry must not hide the others.
  const discovered = Array.isArray(entries)
    ? entries.slice(0, LISTED_MAX).flatMap((entry) => readListedModel(entry) ?? [])
    : [];
  const models = [...new Set([...statics, ...discovered.map(({ id }) => id)])];
  if (models.length > 0) {
    return { state: 'Healthy', models, contextLengths: contextLengthsOf(discovered) };
  }
  return { state: 'Degraded', models, reason: 'it has no models to serve' };
}

/** What a refused listing says about a backend. */
export function unlistedProbe(
  status: number,
  { models: statics, isListingOptional }: Pick<ProbedBackend, 'models' | 'isListingOptional'>,
): Probe {
  const answered = `the models listing answered ${status}`;
  const isFailureForgiven = isListingOptional && status >= SERVER_ERROR;
  if (statics.length > 0 && (UNLISTED_STATUSES.includes(status) || isFailureForgiven)) {
    return { state: 'Healthy', models: statics, reason: `models are not listed: ${answered}` };
  }
  return { state: 'Degraded', models: statics, reason: answered };
}

const contextLengthsOf = (listed: readonly ListedModel[]): ReadonlyMap<string, number> =>
  new Map(
    listed.flatMap(({ id, contextLength }) =>
      contextLength === undefined ? [] : [[id, contextLength] as const],
    ),
  );
