import type { AdmissionStore, ReservationEnd, UsageStore } from '@model-gateway/billing';

/** What became of the call of a request. */
interface WatchedCall {
  readonly userId: string;
  readonly hasReservation: boolean;
  readonly ends: ReservationEnd[];
  isSettled: boolean;
}

/** Sees every call begin and end, and every event that is recorded, between the service and its stores. */
export interface WatchedStores {
  readonly admission: AdmissionStore;
  readonly usage: UsageStore;
  /** Whether no call of a user is open. */
  isIdle(userId: string): boolean;
  /** Whether the usage with a reference is recorded, and its reservation replaced by it. */
  isSettled(ref: string): boolean;
  /** How the reservations of a user ended. */
  endsOf(userId: string): object;
}

export function watchStores(admission: AdmissionStore, usage: UsageStore): WatchedStores {
  const calls = new Map<string, WatchedCall>();
  const recorded = new Map<string, string | undefined>();
  const callsOf = (userId: string): readonly WatchedCall[] =>
    [...calls.values()].filter((call) => call.userId === userId);

  return {
    admission: {
      ...admission,
      async admit(request) {
        const answer = await admission.admit(request);
        const { call } = request;
        if (call !== undefined && answer.outcome === 'admitted' && answer.hasBegun) {
          const hasReservation = call.reservation !== undefined;
          const { ends = [], isSettled = false } = calls.get(call.id) ?? {};
          calls.set(call.id, { userId: call.userId, hasReservation, ends, isSettled });
        }
        return answer;
      },
      endCall(end) {
        calls.get(end.id)?.ends.push(end);
        admission.endCall(end);
      },
      async updateHints(facts) {
        await admission.updateHints(facts);
        for (const { id } of facts.settled ?? []) {
          const call = calls.get(id);
          if (call !== undefined) call.isSettled = true;
        }
      },
    },
    usage: {
      ...usage,
      async record(events, options) {
        const batch = await usage.record(events, options);
        for (const { ref_id: ref, call_id: callId } of events)
          if (ref !== null) recorded.set(ref, callId);
        return batch;
      },
    },
    isIdle: (userId) => callsOf(userId).every(({ ends }) => ends.some(({ endsCall }) => endsCall)),
    isSettled(ref) {
      if (!recorded.has(ref)) return false;
      const callId = recorded.get(ref);
      return callId === undefined || calls.get(callId)?.isSettled !== false;
    },
    endsOf(userId) {
      const ended = callsOf(userId);
      const used = ended.flatMap(({ ends }) => ends.flatMap((end) => end.usage ?? []));
      const count = (holds: (call: WatchedCall) => boolean): number => ended.filter(holds).length;
      return {
        calls: ended.length,
        reservations: count(({ hasReservation }) => hasReservation),
        endedOnce: count(({ ends }) => ends.filter((end) => end.endsReservation).length === 1),
        endedWithUsage: used.length,
        settled: count(({ isSettled }) => isSettled),
        usedTokens: used.reduce((sum, { tokens }) => sum + tokens, 0),
        usedPoints: used.reduce((sum, { points }) => sum + points, 0),
      };
    },
  };
}
