import { memorySettings, upstreamSettings } from '@model-gateway/backends';
import { billingSettings } from '@model-gateway/billing';
import { inferenceSettings } from '@model-gateway/inference';
import { optional, setting, text, type ConfigOf } from '@model-gateway/kernel';
import { webhookSettings } from '@model-gateway/outbound';
import { agentSettings, routerSettings } from '@model-gateway/router';

/** How backends are reached and watched, for the apps that ask them. */
export const routingSettings = {
  ...upstreamSettings,
  ...routerSettings,
  agentTimeoutSecs: agentSettings.agentTimeoutSecs,
};

export type RoutingConfig = ConfigOf<typeof routingSettings>;

const configFileSettings = {
  configFile: setting('SERVICE_CONFIG', optional(text()), {
    description:
      'A YAML file with backends, aliases, routes, tiers, prices and webhooks. It is applied at the start and on SIGHUP; give every process that has this setting the same file.',
    defaultText: 'unset: everything is configured by calls',
  }),
};

/** How models and memory are reached and watched and what a point is worth, for the apps that serve models. */
export const serviceRuntimeSettings = {
  ...routingSettings,
  ...memorySettings,
  ...billingSettings,
  ...inferenceSettings,
  ...configFileSettings,
  ...webhookSettings,
};

export type ServiceRuntimeConfig = ConfigOf<typeof serviceRuntimeSettings>;
