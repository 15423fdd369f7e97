import type { EditableCall, Hook } from '../call/call.ts';
import type { Memory } from './memory.ts';

/** Puts what is remembered before the messages of a turn, and writes complete turns to memory. */
export const createMemoryHook = (
  memory: Pick<Memory, 'isConfigured' | 'recall' | 'writeBack'>,
): Hook => ({
  async before(call) {
    if (!memory.isConfigured) return undefined;
    const { caller, chat } = call;
    const isEnabled = chat.memory !== false;
    const { state, message } = await memory.recall(caller.userId, chat.messages, isEnabled);
    call.memory = state;
    if (message !== undefined) call.insert([message]);
    if (state === 'disabled') return undefined;
    return {
      async ended({ ending, reply }) {
        if (ending === 'complete') writeBack(call, reply().content, memory);
        return undefined;
      },
    };
  },
});

/** The last message of the user and the reply; earlier messages were written in their own turns. */
function writeBack(
  { caller, chat: { messages } }: EditableCall,
  content: string,
  memory: Pick<Memory, 'writeBack'>,
): void {
  const last = messages.findLast(({ role }) => role === 'user');
  if (last === undefined || content === '') return;
  memory.writeBack(caller.userId, [last, { role: 'assistant', content }]);
}
