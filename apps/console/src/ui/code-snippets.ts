/** A program that sends a request. */
export interface Snippet {
  readonly name: string;
  readonly code: string;
}

/** Stands for a key: a secret is shown once and not again in code. */
export const KEY_PLACEHOLDER = 'service-…';

interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly temperature?: number | undefined;
  readonly max_tokens?: number | undefined;
  readonly tools?: readonly unknown[] | undefined;
  readonly response_format?: unknown;
}

interface ChatMessage {
  readonly role: string;
  readonly content: string;
  /** Data URLs. */
  readonly images?: readonly string[];
}

/** A whole image would fill the page. */
const IMAGE_CHARS_MAX = 200;

/** The same chat as programs, each ready to run. */
export function chatSnippets(
  baseUrl: string,
  key: string,
  { model, messages, ...parameters }: ChatRequest,
): readonly Snippet[] {
  const body = {
    model,
    messages: messages.map(messageOf),
    ...Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined)),
    stream: true,
  };
  const json = JSON.stringify(body, undefined, 2);
  return [
    {
      name: 'curl',
      code: [
        `curl -N ${baseUrl}/v1/chat/completions \\`,
        `  -H 'authorization: Bearer ${key}' \\`,
        `  -H 'content-type: application/json' \\`,
        `  -d '${json.replaceAll("'", `'\\''`)}'`,
      ].join('\n'),
    },
    {
      name: 'Python',
      code: [
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url=${python(`${baseUrl}/v1`)}, api_key=${python(key)})`,
        'stream = client.chat.completions.create(',
        ...Object.entries(body).map(([name, value]) => `    ${name}=${python(value)},`),
        ')',
        'for chunk in stream:',
        '    if chunk.choices:',
        '        print(chunk.choices[0].delta.content or "", end="", flush=True)',
      ].join('\n'),
    },
    {
      name: 'TypeScript',
      code: [
        "import OpenAI from 'openai';",
        '',
        `const client = new OpenAI({ baseURL: ${JSON.stringify(`${baseUrl}/v1`)}, apiKey: ${JSON.stringify(key)} });`,
        `const stream = await client.chat.completions.create(${json});`,
        'for await (const chunk of stream) {',
        "  process.stdout.write(chunk.choices[0]?.delta.content ?? '');",
        '}',
      ].join('\n'),
    },
  ];
}

/** A message of the chat-completions API. */
function messageOf({ role, content, images = [] }: ChatMessage): object {
  if (images.length === 0) return { role, content };
  const parts = images.map((image) => ({
    type: 'image_url',
    image_url: {
      url: image.length > IMAGE_CHARS_MAX ? `${image.slice(0, image.indexOf(',') + 1)}…` : image,
    },
  }));
  return { role, content: [{ type: 'text', text: content }, ...parts] };
}

/** A value in Python. Its strings have the escapes of JSON. */
function python(value: unknown): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null) return 'None';
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`;
  if (typeof value === 'object') {
    const fields = Object.entries(value).map(
      ([name, field]) => `${JSON.stringify(name)}: ${python(field)}`,
    );
    return `{${fields.join(', ')}}`;
  }
  return JSON.stringify(value);
}
