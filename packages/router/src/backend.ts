import type { UpstreamCompletion } from '@model-gateway/contracts';

/** How well a backend answers. Only Healthy ones are routed to. */
export type HealthState = 'Healthy' | 'Degraded' | 'Unhealthy';

export interface Probe {
  readonly state: HealthState;
  /** The model ids that the backend serves, where it could be asked. */
  readonly models: readonly string[];
  /** Why it is not Healthy. */
  readonly reason?: string;
}

/** A chat body on its way to an upstream: ready to send, with the model id as the backend lists it. */
export type UpstreamChat = Readonly<Record<string, unknown>> & { readonly model: string };

/** One upstream behind the gateway. A backend that lacks a method cannot do that. */
export interface Backend {
  readonly name: string;
  readonly kind: string;
  probe(signal: AbortSignal): Promise<Probe>;
  chat?(body: UpstreamChat, signal: AbortSignal): Promise<UpstreamCompletion>;
  close(): Promise<void>;
}
