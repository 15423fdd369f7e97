import type { TurnAnswer, TurnUsage } from '@model-gateway/contracts';
import { z } from 'zod';
import type { ClientApi } from '../../src/client-api.ts';
import type { DialectRequest, EventWriter } from '../../src/dialect.ts';
import { KEEP_ALIVE } from '../../src/event-marks.ts';
import { eventDialect } from '../../src/turn/answer-writer.ts';
import { changedMessage } from '../../src/turn/texts.ts';

const questionSchema = z.object({
  model: z.string(),
  question: z.string(),
  stream: z.boolean().optional(),
});
const wordsSchema = z.object({ read: z.int(), written: z.int() });
const answerSchema = z.object({ answer: z.string(), words: wordsSchema });
const problemSchema = z.object({ problem: z.string(), id: z.string() });

const wordsOf = (usage: TurnUsage | undefined): z.output<typeof wordsSchema> => ({
  read: usage?.promptTokens ?? 0,
  written: usage?.completionTokens ?? 0,
});

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

function createAnswerStream(): EventWriter {
  let usage: TurnUsage | undefined;
  return {
    begin: () => '',
    alive: () => KEEP_ALIVE,
    write(step) {
      if (step.type === 'usage') ({ usage } = step);
      return step.type === 'text' ? event({ answer: step.text }) : '';
    },
    end: () => event({ words: wordsOf(usage) }),
    fail: ({ message, requestId }) => event({ problem: message, id: requestId }),
  };
}

const writeAnswer = ({ parts, usage }: TurnAnswer): z.output<typeof answerSchema> => ({
  answer: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
  words: wordsOf(usage),
});

const toyDialect = eventDialect({
  api: 'toy',
  request: questionSchema.transform(({ model, question, stream }): DialectRequest => ({
    model,
    chat: { model, stream, messages: [{ role: 'user', content: question }] },
    ignored: [],
  })),
  edited: ({ chat, ...request }, change) => ({
    ...request,
    chat: { ...chat, messages: chat.messages.map((message) => changedMessage(message, change)) },
  }),
  writeAnswer,
  writeStream: createAnswerStream,
  // No upstream speaks it.
  relayAnswer: (answer) => answer,
  relayStream: () => ({ ...createAnswerStream(), relay: event }),
  writeError: ({ status, message, requestId }) => ({
    status,
    body: { problem: message, id: requestId },
  }),
});

/** An API as the recipe of CONTRIBUTING.md adds one: this folder, and its name in `apis.ts`. */
export const toyApi: ClientApi = {
  dialect: toyDialect,
  path: '/v1/questions',
  id: 'askQuestion',
  summary: 'The answer to one question, streamed or not.',
  request: { name: 'Question', schema: questionSchema },
  example: { model: 'demo-chat', question: 'What is a boat?' },
  response: { name: 'Answer', schema: answerSchema },
  streams: 'A `data:` line per piece of the answer; the last one has the words.',
  errors: { name: 'Problem', schema: problemSchema, failures: [500, 502, 503] },
};
