export { createBus, type Bus } from './bus.ts';
export { busSettings, optionalRedisUrlSetting, redisPrefixSetting } from './settings.ts';
