import type { AssistantPart, ToolCallPart, TurnAnswer, TurnEvent } from '@model-gateway/contracts';
import { present } from './fields.ts';

/** A whole answer as the steps of a streamed one. */
export const eventsOfAnswer = ({
  parts,
  citations = [],
  finish,
  stopSequence,
  usage,
}: TurnAnswer): readonly TurnEvent[] => [
  // They wait for the text that they belong to.
  ...citations.map((citation) => ({ type: 'citation' as const, citation })),
  ...parts.flatMap(eventsOfPart),
  { type: 'finish', reason: finish, stopSequence },
  ...(usage === undefined ? [] : [{ type: 'usage' as const, usage }]),
];

const eventsOfPart = (part: AssistantPart, index: number): readonly TurnEvent[] =>
  part.type === 'tool_call' ? eventsOfCall(part, index) : [part];

/** A whole call as the steps of a streamed one. */
export const eventsOfCall = (
  { id, name, signature, arguments: text }: ToolCallPart,
  index: number,
): readonly TurnEvent[] => [
  { type: 'tool_call', index, id, name, ...present({ signature }) },
  { type: 'tool_arguments', index, text },
];
