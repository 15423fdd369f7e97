export type { ChatFault } from './faults/stream-faults.ts';
export {
  DEMO_CAPABILITIES,
  DEMO_MODEL_CAPABILITIES,
  DEMO_MODELS,
  startChatUpstream,
  type RunningChatUpstream,
} from './chat/chat-upstream.ts';
