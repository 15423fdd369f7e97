export type { ChatFault, ChatOperation } from './chat/chat-faults.ts';
export {
  startChatUpstream,
  type ChatUpstreamOptions,
  type RunningChatUpstream,
} from './chat/chat-upstream.ts';
