import { chatClient } from '../matrix/clients/chat.ts';
import type { MatrixClient } from '../matrix/clients/client.ts';
import { messagesClient } from '../matrix/clients/messages.ts';
import { responsesClient } from '../matrix/clients/responses.ts';
import { fieldsOf, unsigned, type Fields } from '../matrix/facts.ts';
import type { ClientName } from '../matrix/features.ts';
import type { Heard } from './open-zoo.ts';
import { readOfficially } from './read-officially.ts';

export const CLIENTS: Readonly<Record<ClientName, MatrixClient>> = {
  chat: chatClient,
  responses: responsesClient,
  messages: messagesClient,
};

/** All that a client can see of what it got, to be compared with `expectedBy`. */
export async function observe(client: ClientName, heard: Heard) {
  const { status, headers, isCut, isStream, text, attempts, row } = heard;
  const events = isStream ? eventsIn(text) : [];
  const whole = isStream ? CLIENTS[client].joined(events) : (JSON.parse(text) as Fields);
  return {
    status,
    attempts,
    isCut,
    hasEndMark: text.includes('data: [DONE]'),
    retryAfter: headers.get('retry-after'),
    model: isStream ? modelIn(client, events) : whole['model'],
    answer: status === 200 ? readBy(client, whole) : undefined,
    error: whole['error'],
    errorEvents: events.filter((event) => event['error'] !== undefined).length,
    official: await readOfficially(client, heard),
    billed: row && {
      status: row.status,
      prompt: row.prompt_tokens,
      completion: row.completion_tokens,
    },
  };
}

const eventsIn = (text: string): readonly Fields[] =>
  text
    .split('\n')
    .flatMap((line) => /^data: ?(\{.*)/.exec(line)?.[1] ?? [])
    .map((json) => JSON.parse(json) as Fields);

/** With zeros for what an API leaves out, and without signatures, which no file says. */
function readBy(client: ClientName, whole: Fields) {
  const { usage, thought, text, calls, finish } = CLIENTS[client].read(whole);
  const { prompt, completion, cached, reasoning } = usage;
  return {
    text,
    thought: thought?.text,
    calls: calls?.map(unsigned),
    finish,
    usage: { prompt, completion, cached: cached || 0, reasoning: reasoning || 0 },
  };
}

/** The model that a stream names, which Azure leaves empty in some chunks. */
function modelIn(client: ClientName, events: readonly Fields[]): unknown {
  switch (client) {
    case 'chat':
      return events.map((event) => event['model']).findLast((model) => model !== '');
    case 'messages':
      return fieldsOf(events[0]?.['message'])['model'];
    case 'responses':
      return fieldsOf(events.at(-1)?.['response'])['model'];
  }
}
