export type { ChatFault } from './faults/stream-faults.ts';
export { startChatUpstream, type RunningChatUpstream } from './chat/chat-upstream.ts';
export { DEMO_CAPABILITIES, DEMO_MODEL_CAPABILITIES, DEMO_MODELS } from './demo-api.ts';
export { startDemoModel } from './demo-server.ts';
