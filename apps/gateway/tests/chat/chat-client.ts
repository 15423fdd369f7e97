import { request as httpRequest, type Agent, type IncomingMessage } from 'node:http';

/** One chat request, and when its client disconnects. */
export interface ChatQuestion {
  readonly url: string;
  readonly agent: Agent;
  readonly secret: string;
  /** The reference of the usage row. */
  readonly ref: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Disconnects after this many pieces of text. */
  readonly hangUpAfterPieces?: number;
  /** Disconnects after this time, whatever has arrived. */
  readonly hangUpAfterMs?: number;
  /** Disconnects when this resolves. */
  readonly hangUpAfter?: Promise<void>;
}

/** What a client saw. */
export interface ChatOutcome {
  /** Undefined when no response began. */
  readonly status: number | undefined;
  /** The last byte of a successful response arrived. */
  readonly isComplete: boolean;
  /** Pieces of text that arrived. */
  readonly pieces: number;
}

const PIECE = /"delta":\{"content":"[^"]/g;

/** Sends a chat as a client that may disconnect at any moment; never rejects. */
export function askChat(question: ChatQuestion): Promise<ChatOutcome> {
  const { url, agent, secret, ref, body, hangUpAfterPieces, hangUpAfterMs, hangUpAfter } = question;
  const isStream = body['stream'] === true;
  return new Promise((resolve) => {
    let status: number | undefined;
    let text = '';
    let timer: NodeJS.Timeout | undefined;
    const pieces = (): number => text.match(PIECE)?.length ?? 0;
    const end = (hasEnded: boolean): void => {
      clearTimeout(timer);
      const isWhole = isStream ? isFinished(text) : hasEnded;
      resolve({ status, isComplete: status === 200 && isWhole, pieces: pieces() });
    };
    const call = httpRequest(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent,
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${secret}`,
        'x-service-ref': ref,
      },
    });
    call.on('error', () => end(false));
    call.on('response', (response: IncomingMessage) => {
      status = response.statusCode;
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
        if (hangUpAfterPieces !== undefined && pieces() >= hangUpAfterPieces) call.destroy();
      });
      response.on('end', () => end(response.complete));
      response.on('error', () => end(false));
      response.on('close', () => end(false));
    });
    if (hangUpAfterMs !== undefined) timer = setTimeout(() => call.destroy(), hangUpAfterMs);
    void hangUpAfter?.then(() => call.destroy());
    call.end(JSON.stringify(body));
  });
}

const isFinished = (text: string): boolean => text.endsWith('data: [DONE]\n\n');
