import { chatRequestSchema, type ChatRequest } from '@model-gateway/contracts';
import { sendJsonText, type LeanRoute } from '@model-gateway/http';
import { completeChat, errorEvent, streamChat } from '@model-gateway/inference';
import { ignoredHeader } from '../dialects/ignored-header.ts';
import { routeHeaders } from '../openai/backend-header.ts';
import { DONE, KEEP_ALIVE, sendEvents } from '../openai/write-events.ts';
import { inference } from '../operations/inference.ts';
import { createTurnRoute, type ServedTurn, type TurnRouteDependencies } from './turn-route.ts';

/** Most requests leave nothing out. */
function addIgnored(headers: string[], ignored: readonly string[] | undefined): void {
  if (ignored !== undefined) headers.push(...ignoredHeader(ignored));
}

/** `POST /v1/chat/completions`, streamed and not. */
export function createChatRoute(dependencies: TurnRouteDependencies): LeanRoute {
  const { silenceMs } = dependencies;

  async function stream({ turn, response, headers }: ServedTurn<ChatRequest>): Promise<void> {
    const options = {
      headers,
      disconnected: turn.signal,
      silenceMs,
      alive: () => KEEP_ALIVE,
      fail: errorEvent,
    };
    await sendEvents(response, options, async (sink) => {
      const streamed = await streamChat(turn, dependencies, (sign) => sink.pass(sign));
      const more = [...routeHeaders(streamed)];
      addIgnored(more, streamed.ignored);
      sink.open(more);
      return (await streamed.deliver((events) => sink.write(events))) ?? DONE;
    });
  }

  async function complete({ turn, response, headers }: ServedTurn<ChatRequest>): Promise<void> {
    const answer = await completeChat(turn, dependencies);
    const all = headers.concat(routeHeaders(answer));
    addIgnored(all, answer.ignored);
    sendJsonText(response, 200, answer.text ?? JSON.stringify(answer.completion), all);
  }

  return createTurnRoute<ChatRequest>(
    {
      path: inference.createChatCompletion.path,
      schema: chatRequestSchema,
      chatOf: (request) => request,
      cache: { state: (request) => request },
      respond: (served) => (served.request.stream === true ? stream(served) : complete(served)),
    },
    dependencies,
  );
}
