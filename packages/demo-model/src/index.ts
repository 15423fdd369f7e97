export type { ChatFault } from './chat/chat-faults.ts';
export { startChatUpstream, type RunningChatUpstream } from './chat/chat-upstream.ts';
