// A constant number of concurrent chat turns over the management plane.
const MESSAGES = [{ role: 'user', content: 'What does the quick brown fox do?' }];

/**
 * Keeps this many streams running until `stop`, which returns the number of tokens and failed turns. Resolves when all have started,
 * spread over `rampMs`, so that their turns do not start and end together.
 */
export async function startChatLoad({ url, token, model, streams, rampMs }) {
  const stopping = new AbortController();
  const total = { turns: 0, tokens: 0, failed: 0 };

  const onToken = () => {
    total.tokens += 1;
  };
  async function keepAsking() {
    while (!stopping.signal.aborted) {
      try {
        await oneTurn({ url, token, model, signal: stopping.signal, onToken });
        total.turns += 1;
      } catch {
        if (!stopping.signal.aborted) total.failed += 1;
      }
    }
  }
  const running = [];
  for (let stream = 0; stream < streams; stream += 1) {
    running.push(keepAsking());
    await new Promise((begun) => setTimeout(begun, rampMs / streams));
  }
  return {
    async stop() {
      stopping.abort();
      await Promise.all(running);
      return total;
    },
  };
}

async function oneTurn({ url, token, model, signal, onToken }) {
  const response = await fetch(`${url}/api/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'chat.send',
      params: { model, messages: MESSAGES },
    }),
    signal,
  });
  const { result, error } = await response.json();
  if (error !== undefined) throw new Error(error.message);
  const events = await fetch(`${url}/api/rpc/events?session=${result.stream_id}`, { signal });
  let rest = '';
  for await (const chunk of events.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines.filter((each) => each.startsWith('data: '))) {
      const { params } = JSON.parse(line.slice('data: '.length));
      if (params.error !== undefined) throw new Error(params.error.message);
      if (params.is_complete) return;
      onToken();
    }
  }
  throw new Error('the stream ended early');
}
