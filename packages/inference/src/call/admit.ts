import type { AdmissionAnswer, ReservationRequest } from '@model-gateway/billing';
import type { ServiceError } from '@model-gateway/contracts';
import type { Router } from '@model-gateway/router';
import { isServable, modelNotAllowed } from '../chat/model-rules.ts';
import { tooManyCalls, tooManyRequests, tooManyTokens } from '../quota/quota-refusals.ts';
import type { AdmittedAnswer, Quotas } from '../quota/quotas.ts';
import {
  FREE_ADMISSION,
  type ExpectedUsage,
  type RequestedAdmission,
  type Reservation,
} from '../quota/reservation.ts';
import type { FallbackModel } from '../upstream/fallback-model.ts';
import type { AdmittedCall, CallContext, CallLimit, Grant, NamedModels } from './call.ts';

/** What a call asks for. */
export interface AskedCall<Body extends NamedModels> {
  /** Reads the body for a caller that is known; rejects with what is wrong with it. */
  readonly read: (grant: Grant) => Promise<Body>;
  /** Whether the limits are checked before the body is read, because reading it may keep much. */
  readonly isLarge?: boolean | undefined;
  /** What the alias of the model stands for, where that was resolved before. */
  readonly resolvedModel?: string | undefined;
  /** Called only if a quota can refuse the call. */
  readonly expected: (body: Body) => ExpectedUsage;
  /** For calls that create a job, which have a price whatever their model is; otherwise points pay only for models with a price. */
  readonly job?: ((body: Body, resolvedModel: string) => Promise<CreatedJob>) | undefined;
  /** Answers a call that repeats an earlier one of the user, which no quota refuses; false when it does not. */
  readonly answerRepeated?: ((body: Body, grant: Grant) => Promise<boolean>) | undefined;
  /** Completes a body by what is stored for its user, once the call is admitted; then it reserves the rest. */
  readonly complete?: ((body: Body, grant: Grant) => Promise<CompletedBody<Body>>) | undefined;
}

/** The job that a call creates. */
interface CreatedJob {
  readonly id: string;
  readonly costUsd: number;
}

interface CompletedBody<Body> {
  readonly body: Body;
  /** Whether anything was added. */
  readonly isLonger: boolean;
}

/** What the limits of a caller have counted, for a call that they allow or refuse. */
export interface CountedCall {
  readonly grant: Grant;
  /** Those that the store was asked about. */
  readonly limits: readonly CallLimit[];
  readonly answer: Exclude<AdmissionAnswer, { outcome: 'stale' }>;
}

/** A context whose surface tells its client how much of the limits is left. */
export interface AdmittedContext extends CallContext {
  readonly onCounted?: (counted: CountedCall) => void;
}

export interface AdmitServices {
  readonly quotas: Quotas;
  readonly router: {
    readonly aliases: Pick<Router['aliases'], 'resolve'>;
    readonly targetsOf: Router['targetsOf'];
  };
}

/** A call that its limits allow. The receiver ends its reservation. */
interface BegunCall {
  readonly grant: Grant;
  readonly requested: ReservationRequest;
  readonly reservation: Reservation;
  /** What the store knew about the quota; the decision also depends on the model. */
  readonly known: AdmittedAnswer;
}

/** How often one call looks its caller up again when the account changes each time. */
const LOOKUPS_MAX = 3;

/**
 * Runs every check that a call must pass before it is routed. Problems with limits are reported before problems with the body,
 * and a call with a bad body counts in the limits. Resolves to undefined when the call was answered as a repeated one.
 */
export function admit<Body extends NamedModels>(
  context: AdmittedContext,
  asked: AskedCall<Body> & { readonly answerRepeated?: undefined },
  services: AdmitServices,
): Promise<AdmittedCall<Body>>;
export function admit<Body extends NamedModels>(
  context: AdmittedContext,
  asked: AskedCall<Body>,
  services: AdmitServices,
): Promise<AdmittedCall<Body> | undefined>;
export async function admit<Body extends NamedModels>(
  context: AdmittedContext,
  asked: AskedCall<Body>,
  services: AdmitServices,
): Promise<AdmittedCall<Body> | undefined> {
  const grant = await context.identity.grant();
  const early =
    asked.isLarge === true ? await begin(context, grant, FREE_ADMISSION, services) : undefined;
  let begun = early;
  try {
    const read = await readCall(context, grant, asked, services);
    if ('error' in read) {
      if (early === undefined) await count(context, grant, services);
      throw read.error;
    }
    begun = await begin(context, grant, read.admission, services, early);
    return await cover(read, begun, asked, services);
  } catch (error) {
    begun?.reservation.end();
    throw error;
  }
}

/** Admits a call that costs nothing: it counts in the limits of requests and calls alone. */
export async function admitFree(
  context: AdmittedContext,
  services: AdmitServices,
): Promise<Pick<AdmittedCall<unknown>, 'caller' | 'reservation'>> {
  const grant = await context.identity.grant();
  const { grant: current, reservation } = await begin(context, grant, FREE_ADMISSION, services);
  return { caller: current.caller, reservation };
}

/** What the body asks for. */
interface ReadCall<Body> {
  readonly body: Body;
  readonly resolvedModel: string;
  readonly admission: RequestedAdmission;
}

/** Reads the body, or what is wrong with it, which is reported only when the limits allow the call. */
async function readCall<Body extends NamedModels>(
  { log }: CallContext,
  grant: Grant,
  { read, expected, job, resolvedModel: resolved }: AskedCall<Body>,
  { router: { aliases } }: AdmitServices,
): Promise<ReadCall<Body> | { readonly error: unknown }> {
  try {
    const body = await read(grant);
    log.model = body.model;
    const resolvedModel = resolved ?? aliases.resolve(body.model);
    if (job !== undefined) {
      const { id: jobId, costUsd } = await job(body, resolvedModel);
      const usage = () => ({ ...expected(body), costUsd });
      return { body, resolvedModel, admission: { model: null, expected: usage, jobId } };
    }
    const fallbacks = body.models?.map((model) => ({ model, resolved: aliases.resolve(model) }));
    const admission = {
      model: resolvedModel,
      requested: body.model,
      fallbacks,
      expected: () => expected(body),
    };
    return { body, resolvedModel, admission };
  } catch (error) {
    return { error };
  }
}

/** Counts the call in the limits of its caller, and begins it; a call that has begun is not counted again. */
async function begin(
  context: AdmittedContext,
  grant: Grant,
  admission: RequestedAdmission,
  { quotas }: AdmitServices,
  early?: BegunCall,
): Promise<BegunCall> {
  const isCounted = early === undefined;
  const requestOf = ({ payer }: Grant): ReservationRequest =>
    quotas.requestReservation(payer, admission);
  const asked = await askStore(context, grant, isCounted, requestOf, quotas);
  const { current, requested, answer } = asked;
  if (answer.outcome !== 'admitted') throw await refused(context, grant, asked, answer);
  const reservation = quotas.reservationOf(current.payer, requested, early?.reservation);
  try {
    await assertKnown(context, grant, answer);
    const known = await quotas.withWindow(current.payer, answer);
    if (isCounted) context.onCounted?.({ grant: current, limits: asked.limits, answer: known });
    return { grant: current, requested, reservation, known };
  } catch (error) {
    reservation.end();
    throw error;
  }
}

/** Counts a call that cannot be served in the limits of its caller; rejects if they refuse it. */
async function count(
  context: AdmittedContext,
  grant: Grant,
  { quotas }: AdmitServices,
): Promise<void> {
  const asked = await askStore(context, grant, true, () => undefined, quotas);
  const { current, limits, answer } = asked;
  if (answer.outcome !== 'admitted') throw await refused(context, grant, asked, answer);
  await assertKnown(context, grant, answer);
  const known = await quotas.withWindow(current.payer, answer);
  context.onCounted?.({ grant: current, limits, answer: known });
}

/** What the store answered about a caller. */
interface AskedStore<Requested> extends Pick<CountedCall, 'limits' | 'answer'> {
  readonly current: Grant;
  readonly requested: Requested;
}

/** Asks the store, again for a caller who has changed meanwhile. */
async function askStore<Requested extends ReservationRequest | undefined>(
  { identity }: CallContext,
  grant: Grant,
  isCounted: boolean,
  requestOf: (grant: Grant) => Requested,
  quotas: Quotas,
): Promise<AskedStore<Requested>> {
  let current = grant;
  for (let lookups = 0; ; lookups += 1) {
    const requested = requestOf(current);
    const limits = isCounted ? current.limits : [];
    // After several lookups the grant counts as current, so that frequent changes cannot block a call.
    const knownEpoch = lookups < LOOKUPS_MAX ? current.epoch : undefined;
    const answer = await quotas.ask(current.payer, { knownEpoch, limits, call: requested });
    if (answer.outcome !== 'stale') return { current, limits, requested, answer };
    current = await identity.grant(answer.epoch);
  }
}

/** A lower epoch than before means that the counter was reset: the caller may be unknown now. */
async function assertKnown(
  { identity }: CallContext,
  { epoch }: Grant,
  answer: CountedCall['answer'],
): Promise<void> {
  if (epoch !== undefined && answer.epoch < epoch) await identity.grant(answer.epoch);
}

type RefusedAdmission = Exclude<AdmissionAnswer, { outcome: 'stale' | 'admitted' }>;

async function refused(
  context: AdmittedContext,
  grant: Grant,
  { current, limits }: AskedStore<unknown>,
  answer: RefusedAdmission,
): Promise<ServiceError> {
  await assertKnown(context, grant, answer);
  context.onCounted?.({ grant: current, limits, answer });
  return refusalOf(answer, current);
}

function refusalOf(answer: RefusedAdmission, { payer, limits }: Grant): ServiceError {
  switch (answer.outcome) {
    case 'limited': {
      const limit = limits.find(({ name }) => name === answer.limit.name);
      return tooManyRequests(answer.limit.requestsPerMinute, limit?.setBy ?? 'tier', payer);
    }
    case 'tokens_limited':
      return tooManyTokens(payer.key?.tokensPerMinute ?? 0, answer.nextFreeMs);
    case 'busy':
      return tooManyCalls(answer.callsMax);
  }
}

/** Checks the quota and the model rules, and completes the body by what is stored for it. */
async function cover<Body extends NamedModels>(
  { body, resolvedModel, admission }: ReadCall<Body>,
  { grant, requested, reservation, known }: BegunCall,
  { answerRepeated, complete, expected }: AskedCall<Body>,
  { quotas, router }: AdmitServices,
): Promise<AdmittedCall<Body> | undefined> {
  const { caller, payer } = grant;
  const admitted = { grant, caller, resolvedModel, reservation };
  if (answerRepeated !== undefined && (await answerRepeated(body, grant))) {
    reservation.end();
    return undefined;
  }
  await quotas.assertCovered(payer, requested, known, admission);
  const named = { model: body.model, resolved: resolvedModel };
  const allowed = allowedFallbacks(grant, named, admission.fallbacks, router);
  // One that the quota does not cover is not tried.
  const fallbacks =
    allowed.length === 0 ? [] : await quotas.coveredFallbacks(payer, requested, known, allowed);
  if (complete === undefined) return { ...admitted, body, fallbacks };
  const whole = await complete(body, grant);
  if (!whole.isLonger) return { ...admitted, body: whole.body, fallbacks };
  const more = { ...admission, fallbacks, expected: () => expected(whole.body) };
  const left = await quotas.admitAgain(payer, reservation, more);
  return { ...admitted, body: whole.body, fallbacks: left };
}

/** The other models that the rules allow. Refuses a call that neither its model nor another one of it may serve. */
function allowedFallbacks(
  { caller: { modelPolicy } }: Grant,
  named: FallbackModel,
  fallbacks: readonly FallbackModel[] = [],
  router: AdmitServices['router'],
): readonly FallbackModel[] {
  if (modelPolicy === null) return fallbacks;
  const mayUse = ({ model: requested, resolved: aliasTarget }: FallbackModel): boolean =>
    isServable(modelPolicy, router, { requested, aliasTarget });
  const allowed = fallbacks.filter(mayUse);
  if (allowed.length === 0 && !mayUse(named))
    throw modelNotAllowed(modelPolicy, named.model, named.resolved);
  return allowed;
}
