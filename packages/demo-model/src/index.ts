export { DEMO_CAPABILITIES, DEMO_MODEL_CAPABILITIES, DEMO_MODELS } from './demo-api.ts';
export { startDemoModel } from './demo-server.ts';
