import type { TurnMessage, UserPart } from '@model-gateway/contracts';

const ELSEWHERE = 'The result is in the message after the results.';

/**
 * Chat completions take only text as the result of a tool. Images and files of results move to the next message of the
 * user, which is made if there is none.
 */
export function withMediaAfterResults(messages: readonly TurnMessage[]): TurnMessage[] {
  const moved: TurnMessage[] = [];
  let media: UserPart[] = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      const texts = message.parts.filter(({ type }) => type === 'text');
      media.push(...message.parts.filter(({ type }) => type !== 'text'));
      const parts = texts.length === 0 ? [{ type: 'text' as const, text: ELSEWHERE }] : texts;
      moved.push({ ...message, parts });
      continue;
    }
    if (media.length === 0) moved.push(message);
    else if (message.role === 'user')
      moved.push({ ...message, parts: [...media, ...message.parts] });
    else moved.push({ role: 'user', parts: media }, message);
    media = [];
  }
  if (media.length > 0) moved.push({ role: 'user', parts: media });
  return moved;
}
