import { memorySettings, upstreamSettings } from '@model-gateway/backends';
import type { ConfigOf } from '@model-gateway/kernel';
import { routerSettings } from '@model-gateway/router';

/** How models and memory are reached and watched, for the apps that serve them. */
export const servingSettings = { ...upstreamSettings, ...routerSettings, ...memorySettings };

export type ServingConfig = ConfigOf<typeof servingSettings>;
