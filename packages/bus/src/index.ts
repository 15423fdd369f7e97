export { createBus, type Bus, type BusOptions } from './bus.ts';
export { busSettings, optionalRedisUrlSetting, redisPrefixSetting } from './settings.ts';
export type { BusMode } from './stores.ts';
