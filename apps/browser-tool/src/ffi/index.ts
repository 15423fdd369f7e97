export { createFfiEngine } from './ffi-engine.ts';
