// Written by `node scripts/reference.mjs` from packages/backends/src/kinds.ts.

/** The kinds of backends that operators register, and what each is for. */
export const BACKEND_KINDS: readonly (readonly [name: string, purpose: string])[] = [
  ['external', 'OpenAI and everything that speaks its API: vLLM, llama.cpp, other clouds.'],
  ['anthropic', 'The Messages API of Anthropic, and servers that copy it.'],
  ['azure', 'Deployments of Azure OpenAI.'],
  ['gemini', 'The Gemini API.'],
  ['local-server', 'Ollama and servers with its API.'],
  ['engine', 'An engine of your own, over one WebSocket.'],
  ['cloud-video', 'A video API with tasks, in the manner of MiniMax.'],
];
