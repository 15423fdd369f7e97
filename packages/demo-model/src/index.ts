export type { ChatFault } from './faults/stream-faults.ts';
export { startChatUpstream, type RunningChatUpstream } from './chat/chat-upstream.ts';
