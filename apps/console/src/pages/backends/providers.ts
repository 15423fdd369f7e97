/** A server or cloud that people know by name, with what the form of a backend needs. */
export interface Provider {
  readonly title: string;
  /** The kind of backend. */
  readonly kind: string;
  /** What the backend is called, unless that is taken. */
  readonly name: string;
  /** Where it usually is; empty for the example of the kind. */
  readonly url: string;
}

export const PROVIDERS: readonly Provider[] = [
  { title: 'OpenAI', kind: 'external', name: 'openai', url: 'https://api.openai.com/v1' },
  { title: 'Anthropic', kind: 'anthropic', name: 'anthropic', url: '' },
  { title: 'Gemini', kind: 'gemini', name: 'gemini', url: '' },
  { title: 'Azure OpenAI', kind: 'azure', name: 'azure', url: '' },
  {
    title: 'OpenRouter',
    kind: 'external',
    name: 'openrouter',
    url: 'https://openrouter.ai/api/v1',
  },
  { title: 'Ollama', kind: 'local-server', name: 'ollama', url: '' },
  { title: 'vLLM', kind: 'external', name: 'vllm', url: 'http://127.0.0.1:8000' },
  { title: 'LM Studio', kind: 'external', name: 'lm-studio', url: 'http://127.0.0.1:1234' },
];

/** A name that no other backend has. */
export function freeName(name: string, taken: readonly string[]): string {
  let free = name;
  for (let number = 2; taken.includes(free); number += 1) free = `${name}-${number}`;
  return free;
}
