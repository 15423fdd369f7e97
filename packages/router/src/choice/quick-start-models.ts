/** Models that are advertised whether or not a backend serves them. */
export const QUICK_START_MODELS: readonly string[] = [
  'Qwen/Qwen3-0.6B',
  'Qwen/Qwen3-1.7B',
  'HuggingFaceTB/SmolLM2-1.7B-Instruct',
  'google/gemma-3-1b-it',
  'microsoft/Phi-4-mini-instruct',
  'deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B',
];

/** Who provides them. */
export const QUICK_START_OWNER = 'huggingface';

/** What an operator has to do to serve a quick-start model; undefined for any other model. */
export function howToServe(model: string): string | undefined {
  if (!QUICK_START_MODELS.includes(model)) return undefined;
  return (
    'It is only suggested so far. To serve it, an admin deploys it on a GPU node (agents.deploy), ' +
    'or adds a server that has it (POST /api/admin/backends).'
  );
}
