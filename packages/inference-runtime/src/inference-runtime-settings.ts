import { memorySettings, upstreamSettings } from '@model-gateway/backends';
import { billingSettings } from '@model-gateway/billing';
import { inferenceSettings } from '@model-gateway/inference';
import type { ConfigOf } from '@model-gateway/kernel';
import { agentSettings, routerSettings } from '@model-gateway/router';

/** How backends are reached and watched, for the apps that ask them. */
export const routingSettings = {
  ...upstreamSettings,
  ...routerSettings,
  agentTimeoutSecs: agentSettings.agentTimeoutSecs,
};

export type RoutingConfig = ConfigOf<typeof routingSettings>;

/** How models and memory are reached and watched and what a point is worth, for the apps that serve models. */
export const inferenceRuntimeSettings = {
  ...routingSettings,
  ...memorySettings,
  ...billingSettings,
  ...inferenceSettings,
};

export type InferenceRuntimeConfig = ConfigOf<typeof inferenceRuntimeSettings>;
