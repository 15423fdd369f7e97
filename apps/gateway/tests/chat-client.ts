import { request as httpRequest, type Agent, type IncomingMessage } from 'node:http';

/** One chat request, and when its client loses patience. */
export interface ChatQuestion {
  readonly url: string;
  readonly agent: Agent;
  readonly secret: string;
  /** What the usage row will bear. */
  readonly ref: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Hangs up as soon as so many pieces of text have arrived. */
  readonly hangUpAfterPieces?: number;
  /** Hangs up then, whatever has arrived. */
  readonly hangUpAfterMs?: number;
}

/** What a client saw. */
export interface ChatOutcome {
  /** Undefined when no answer began. */
  readonly status: number | undefined;
  /** The last byte of a good answer arrived. */
  readonly isComplete: boolean;
  /** Pieces of text that arrived. */
  readonly pieces: number;
}

const PIECE = /"delta":\{"content":"[^"]/g;

/** Asks as a client that may hang up at any moment; never rejects. */
export function askChat(question: ChatQuestion): Promise<ChatOutcome> {
  const { url, agent, secret, ref, body, hangUpAfterPieces, hangUpAfterMs } = question;
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
    call.end(JSON.stringify(body));
  });
}

/** An answer that broke off says so before its end mark. */
const isFinished = (text: string): boolean =>
  text.endsWith('data: [DONE]\n\n') && !text.includes('data: {"error"');
