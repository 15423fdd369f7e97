import { describeError, type Clock, type Log } from '@model-gateway/kernel';
import { eventMail, type SendMail } from './event-mail.ts';
import { eventBody, publicEventId } from './event-body.ts';
import type { AttemptEnd, ClaimedDelivery, DeliveryStore, Receiver } from './event-store.ts';
import { pauseAfter } from './retry-schedule.ts';
import { signatureHeaders } from './signature.ts';

/** A request to a receiver. */
export interface ReceiverRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a receiver answered, or why it did not. */
export type ReceiverAnswer =
  | { readonly status: number }
  | { readonly isMailed: true }
  | { readonly error: string; readonly isFinal?: boolean };

/** Sends one request; never rejects. */
export type SendRequest = (request: ReceiverRequest) => Promise<ReceiverAnswer>;

/** When a delivery is attempted again; undefined after its end. */
export type DeliverNext = { readonly afterMs: number } | undefined;

interface DeliverDependencies {
  readonly deliveries: Pick<DeliveryStore, 'peek' | 'claim' | 'end'>;
  readonly send: SendRequest;
  /** Undefined without mail. */
  readonly sendMail?: SendMail | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

type WebhookReceiver = Extract<Receiver, { readonly kind: 'webhook' }>;

/** Longer than an attempt can take. After a crash another worker repeats the attempt then. */
const LEASE_MS = 30_000;
/** So that a slow receiver leaves the other places of a worker to others. */
const RUNNING_PER_WEBHOOK_MAX = 2;
const RUNNING_PER_GROUP_MAX = 4;
const BUSY_PAUSE_MS = 1_000;
const ERROR_CHARS_MAX = 300;
const GONE_STATUS = 410;

/** Attempts a delivery once. */
export function createDeliver(
  dependencies: DeliverDependencies,
): (deliveryId: string) => Promise<DeliverNext> {
  const { deliveries, send, sendMail, clock, log } = dependencies;
  const running = createRunningCounts();

  async function answerOf({ event, receiver }: ClaimedDelivery): Promise<ReceiverAnswer> {
    if (receiver.kind === 'webhook') return sendTo(receiver, event);
    if (sendMail === undefined) return { error: 'mail is not set up' };
    await sendMail(eventMail(event, receiver.email));
    return { isMailed: true };
  }

  async function sendTo(
    { url, format, secret }: WebhookReceiver,
    event: ClaimedDelivery['event'],
  ): Promise<ReceiverAnswer> {
    if (secret === undefined) return { error: 'the signing secret cannot be decrypted' };
    const id = publicEventId(event.id);
    const body = eventBody(event, format);
    return send({ url, body, headers: signatureHeaders({ id, secret, body, at: clock.now() }) });
  }

  async function attempt(deliveryId: string): Promise<DeliverNext> {
    const now = clock.now();
    const claimed = await deliveries.claim(deliveryId, new Date(now), new Date(now + LEASE_MS));
    if (claimed === undefined) return waitFor(deliveryId);
    const answer = await answerOf(claimed).catch((error: unknown) => ({
      error: describeError(error),
    }));
    const end = endOf(answer, claimed.attempts, clock.now());
    await deliveries.end(deliveryId, claimed.attempts, end);
    if (end.status === 'failed')
      log.warn(
        { delivery_id: deliveryId, event: claimed.event.type, reason: end.error },
        'a delivery failed and is not repeated',
      );
    return end.status === 'pending'
      ? { afterMs: end.nextAttemptAt.getTime() - end.at.getTime() }
      : undefined;
  }

  /** Another worker has it, or it has ended. */
  async function waitFor(deliveryId: string): Promise<DeliverNext> {
    const waiting = await deliveries.peek(deliveryId);
    if (waiting === undefined) return undefined;
    return { afterMs: Math.max(waiting.nextAttemptAt.getTime() - clock.now(), BUSY_PAUSE_MS) };
  }

  return async (deliveryId) => {
    const waiting = await deliveries.peek(deliveryId);
    if (waiting === undefined) return undefined;
    const places = [
      { name: waiting.webhookId, max: RUNNING_PER_WEBHOOK_MAX },
      { name: waiting.groupId, max: RUNNING_PER_GROUP_MAX },
    ];
    const leave = running.enter(places);
    if (leave === undefined) return { afterMs: BUSY_PAUSE_MS };
    return attempt(deliveryId).finally(leave);
  };
}

function endOf(answer: ReceiverAnswer, attempts: number, now: number): AttemptEnd {
  const at = new Date(now);
  const responseStatus = 'status' in answer ? answer.status : null;
  if (isSuccess(answer))
    return { status: 'delivered', at, nextAttemptAt: at, responseStatus, error: null };
  const error = errorOf(answer).slice(0, ERROR_CHARS_MAX);
  const isFinal = responseStatus === GONE_STATUS || ('isFinal' in answer && answer.isFinal);
  const pauseMs = isFinal ? undefined : pauseAfter(attempts);
  const failure = { at, responseStatus, error };
  return pauseMs === undefined
    ? { ...failure, status: 'failed', nextAttemptAt: at }
    : { ...failure, status: 'pending', nextAttemptAt: new Date(now + pauseMs) };
}

const isSuccess = (answer: ReceiverAnswer): boolean =>
  'isMailed' in answer || ('status' in answer && answer.status >= 200 && answer.status < 300);

function errorOf(answer: ReceiverAnswer): string {
  if ('isMailed' in answer) return '';
  if ('error' in answer) return answer.error;
  const { status } = answer;
  return status >= 300 && status < 400
    ? `the receiver answered ${status}: redirects are not followed`
    : `the receiver answered ${status}`;
}

/** Counts what runs in this process. */
function createRunningCounts() {
  const counts = new Map<string, number>();
  const change = (name: string, by: number): void => {
    const count = (counts.get(name) ?? 0) + by;
    if (count === 0) counts.delete(name);
    else counts.set(name, count);
  };
  return {
    /** Takes a place under every name, or none. */
    enter(
      places: readonly { readonly name: string | null; readonly max: number }[],
    ): (() => void) | undefined {
      const named = places.flatMap(({ name, max }) => (name === null ? [] : [{ name, max }]));
      if (named.some(({ name, max }) => (counts.get(name) ?? 0) >= max)) return undefined;
      for (const { name } of named) change(name, 1);
      return () => {
        for (const { name } of named) change(name, -1);
      };
    },
  };
}
