import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const callSchema = z.strictObject({
  /** Undefined where the server sends none: then the gateway makes one. */
  id: z.string().optional(),
  name: z.string(),
  arguments: z.looseObject({}),
});
const usageSchema = z.strictObject({
  prompt: z.int(),
  completion: z.int(),
  cached: z.int().default(0),
  reasoning: z.int().default(0),
});
const finishSchema = z.enum(['stop', 'length', 'tool_calls', 'content_filter']);

const answerSchema = z.strictObject({
  model: z.string(),
  text: z.string().optional(),
  thought: z.string().optional(),
  calls: z.array(callSchema).optional(),
  finish: finishSchema,
  /** `estimated` where the server reports none. */
  usage: z.union([usageSchema, z.literal('estimated')]),
  /** What clients of chat completions get in the words of the server. */
  onChat: z
    .strictObject({ finish: z.string().optional(), usage: usageSchema.optional() })
    .default({}),
});

const errorSchema = z.strictObject({
  /** That the server means, where it answers with 200. */
  status: z.int().optional(),
  message: z.string(),
  code: z.string().optional(),
  type: z.string().optional(),
  param: z.string().optional(),
  retryAfter: z.int().optional(),
  /** The text that came before it, where a stream had begun. */
  after: z.string().optional(),
});

const fixtureSchema = z
  .strictObject({
    /** The kind of backend that the server is registered as. */
    kind: z.enum(['external', 'azure', 'anthropic', 'gemini', 'local-server']),
    /** The server is asked in the API of the client: then only its clients are played. */
    dialects: z.array(z.literal('responses')).optional(),
    status: z.int().default(200),
    headers: z.record(z.string(), z.string()).default({}),
    /** Line ends of a stream. */
    lines: z.enum(['lf', 'crlf']).default('lf'),
    /** `reset`: the connection breaks after the last byte. */
    ending: z.enum(['end', 'reset']).default('end'),
    /** The answer to a request without a stream. */
    whole: z.string().optional(),
    /** The answer to a request with a stream. */
    stream: z.string().optional(),
    /** The answer to either. */
    body: z.string().optional(),
    /** The answer to a request for the embeddings of two texts. */
    embeddings: z.string().optional(),
    answer: answerSchema.optional(),
    error: errorSchema.optional(),
    vectors: z
      .strictObject({
        /** Undefined where the server does not name it. */
        model: z.string().optional(),
        vectors: z.array(z.array(z.number())),
        prompt: z.union([z.int(), z.literal('estimated')]),
      })
      .optional(),
  })
  .refine(
    ({ answer, error, vectors }) =>
      [answer, error, vectors].filter((expected) => expected !== undefined).length === 1,
    'exactly one of answer, error and vectors says what clients can rely on',
  );

export type Fixture = z.output<typeof fixtureSchema> & {
  /** Its folder and file, as `vllm/tool-calls`. */
  readonly name: string;
};
export type ExpectedAnswer = z.output<typeof answerSchema>;
export type ExpectedError = z.output<typeof errorSchema>;

const FOLDER = new URL('fixtures/', import.meta.url);

/** Every file of every server; read at once, because each is a test. */
export function readFixtures(): readonly Fixture[] {
  const paths = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });
  const files = paths.filter((path) => path.endsWith('.yaml')).toSorted();
  return files.map((path) => {
    const text = readFileSync(new URL(path, FOLDER), 'utf8');
    const read = fixtureSchema.safeParse(parse(text));
    if (!read.success) throw new Error(`${path}: ${z.prettifyError(read.error)}`);
    return { ...read.data, name: path.slice(0, -'.yaml'.length) };
  });
}
