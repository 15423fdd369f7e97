export type { EngineEvent } from './engine-events.ts';
export { EngineError, notSupported } from './errors.ts';
export { openEngine, type ForeignEngine } from './open-engine.ts';
