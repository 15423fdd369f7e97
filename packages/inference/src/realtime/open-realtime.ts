import { startPeerTimeout } from '@model-gateway/kernel';
import {
  UnsupportedByBackend,
  type RealtimeLink,
  type RealtimeOpening,
  type Lease,
  type Router,
} from '@model-gateway/router';
import { attempt } from '../upstream/attempts.ts';
import type { RequestCounter } from '../usage/request-counter.ts';
import type { UpstreamTelemetry } from '../upstream/upstream-telemetry.ts';

/** A realtime session that is open at its upstream. */
export interface OpenRealtime {
  readonly link: RealtimeLink;
  /** Settle it when the session is over. */
  readonly lease: Lease;
}

interface OpenRealtimeDependencies {
  readonly router: Pick<Router, 'choose'>;
  readonly telemetry: UpstreamTelemetry;
  readonly requests: Pick<RequestCounter, 'accepted'>;
}

const OPENING_TIMEOUT_MS = 30_000;

/** Opens a realtime session at a backend with that capability. */
export async function openRealtime(
  opening: RealtimeOpening,
  resolvedModel: string,
  { router, telemetry, requests }: OpenRealtimeDependencies,
): Promise<OpenRealtime> {
  const controller = new AbortController();
  const timeout = startPeerTimeout(OPENING_TIMEOUT_MS, () => {
    controller.abort(new Error(`the upstream took longer than ${OPENING_TIMEOUT_MS} ms`));
  });
  const query = {
    model: opening.model,
    resolved: resolvedModel,
    capability: 'realtime',
    signal: controller.signal,
    onAccepted: () => requests.accepted(),
  } as const;
  try {
    const ask = async ({ backend, model }: Lease): Promise<RealtimeLink> => {
      if (backend.openRealtime === undefined) throw noRealtime(opening.model);
      return backend.openRealtime({ ...opening, model }, controller.signal);
    };
    const { answer, lease, tracked } = await attempt({ router, telemetry }, query, ask);
    // Only the opening is measured: the length of a session depends on its users.
    tracked.end();
    void lease.answered();
    return { link: answer, lease };
  } finally {
    timeout.stop();
  }
}

const noRealtime = (model: string): UnsupportedByBackend =>
  new UnsupportedByBackend(
    'unsupported_operation',
    `model '${model}' does not support realtime sessions`,
  );
