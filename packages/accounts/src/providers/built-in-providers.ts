import type { Provider } from './provider-store.ts';

const official = (
  id: string,
  name: string,
  websiteDomain: string,
  description: string,
): Provider => ({ id, name, websiteDomain, description, isOfficial: true, isOperator: false });

/** The providers that every installation shows. */
export const BUILT_IN_PROVIDERS: readonly Provider[] = [
  official('openai', 'OpenAI', 'openai.com', 'GPT and o-series models, embeddings and realtime.'),
  official('anthropic', 'Anthropic', 'anthropic.com', 'Claude models.'),
  official('google', 'Google', 'ai.google.dev', 'Gemini and Gemma models.'),
  official('meta', 'Meta', 'llama.com', 'Llama open-weight models.'),
  official('mistral', 'Mistral AI', 'mistral.ai', 'Mistral, Codestral and Pixtral models.'),
  official('deepseek', 'DeepSeek', 'deepseek.com', 'DeepSeek chat and reasoning models.'),
  official('qwen', 'Alibaba Qwen', 'qwen.ai', 'Qwen language, vision and omni models.'),
  official('moonshot', 'Moonshot AI', 'moonshot.ai', 'Kimi models.'),
  official('minimax', 'MiniMax', 'minimax.io', 'MiniMax language and video models.'),
  official('cohere', 'Cohere', 'cohere.com', 'Command, Embed and Rerank models.'),
  official('ollama', 'Ollama', 'ollama.com', 'Open models on one’s own machine.'),
  official('vllm', 'vLLM', 'vllm.ai', 'A server for open models on GPUs.'),
];
