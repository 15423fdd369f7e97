import type { ValueHints } from '../json-schema/schema-value.ts';
import { asList, asObject, asText, type JsonObject } from '../wire/json.ts';
import type { ChatRequest, Tool } from './chat-request.ts';
import { createMessageHints } from './message-hints.ts';
import { questionOf } from './question.ts';
import { topicsOf, wordsOf } from './words.ts';

const PARALLEL_MAX = 8;
/** More tools than agents have. */
const TOOLS_MAX = 1_000;
const DESCRIPTION_CHARS_MAX = 300;
const COMMON_TOPICS_MIN = 2;
const COMMON_SHARE_MIN = 0.75;

/**
 * The functions that the model calls now. Each is called once for a question, so that a client that repeats its request with the
 * results always comes to an end.
 */
export function requestedTools(request: ChatRequest): readonly Tool[] {
  const { toolChoice, parallelToolCalls } = request;
  if (toolChoice === 'none' || request.tools.length === 0) return [];
  const tools = request.tools.slice(0, TOOLS_MAX);
  const { text, since } = questionOf(request);
  const called = new Set(since.flatMap(({ toolCalls }) => toolCalls.map(({ name }) => name)));
  const isAnswered = since.some(({ role }) => role === 'tool');
  if (isAnswered && called.size === 0) return [];
  const pending = (chosen: readonly Tool[]): readonly Tool[] =>
    chosen.filter(({ name }) => !called.has(name)).slice(0, parallelToolCalls ? PARALLEL_MAX : 1);

  const forced = tools.filter(({ name }) => name === toolChoice);
  if (forced.length > 0) return pending(forced);
  const requested = toolsInText(tools, text);
  if (requested.length > 0 || toolChoice !== 'required') return pending(requested);
  return called.size > 0 ? [] : tools.slice(0, 1);
}

/** The functions that a text names; else those that it describes. */
function toolsInText(tools: readonly Tool[], text: string): readonly Tool[] {
  if (text === '') return [];
  const positions = namePositions(text);
  const named = tools.filter(({ name }) => positions.has(name.toLowerCase()));
  if (named.length > 0) {
    const at = ({ name }: Tool): number => positions.get(name.toLowerCase()) ?? 0;
    return named.toSorted((left, right) => at(left) - at(right));
  }
  const shell = isCommand(text) ? tools.find(isShell) : undefined;
  if (shell !== undefined) return [shell];
  const topics = topicsOf(text);
  const titled = tools.filter((tool) => isTitled(tool, topics, text));
  if (titled.length > 0) return titled;
  return tools.filter((tool) => isDescribed(tool, topics)).slice(0, 1);
}

const REQUESTS: readonly string[] = ['call', 'use', 'using', 'invoke', 'with', 'try'];
const NEGATIONS: readonly string[] = ['not', "don't", 'never', 'without'];

/**
 * Where a text names functions. A compound name is enough; a name that is also an ordinary word must be called a tool, be between
 * backticks, or stand after a word such as `call`.
 */
function namePositions(text: string): ReadonlyMap<string, number> {
  const positions = new Map<string, number>();
  const words = text.split(/[^\p{L}\p{N}_.'`-]+/u);
  const plain = words.map((word) => word.toLowerCase().replaceAll('`', ''));
  for (const [index, word] of words.entries()) {
    const name = word.replaceAll('`', '').replace(/[.'-]+$/, '');
    const before = plain.slice(Math.max(0, index - 3), index).filter((part) => part !== 'the');
    const isRequested =
      /[\p{L}\p{N}][_.-][\p{L}\p{N}]|__|\p{Ll}\p{Lu}/u.test(name) ||
      word.startsWith('`') ||
      REQUESTS.includes(before.at(-1) ?? '') ||
      /^(?:tool|function)\b/.test(plain[index + 1] ?? '');
    if (
      isRequested &&
      !before.some((part) => NEGATIONS.includes(part)) &&
      !positions.has(name.toLowerCase())
    )
      positions.set(name.toLowerCase(), index);
  }
  return positions;
}

const isCommand = (text: string): boolean =>
  /\b(?:run|execute)\b/i.test(text) &&
  createMessageHints(text).find('command', { type: 'string' }).length > 0;

const SHELL_WORDS: readonly string[] = [
  'bash',
  'shell',
  'sh',
  'exec',
  'terminal',
  'command',
  'cmd',
];

function isShell({ name, parameters }: Tool): boolean {
  const properties = asObject(parameters.properties);
  return (
    (properties.command !== undefined || properties.cmd !== undefined) &&
    wordsOf(name).some((word) => SHELL_WORDS.includes(word))
  );
}

/** All topics of the name are in the text; of a name that is one word, the text must also contain the arguments. */
function isTitled(tool: Tool, topics: ReadonlySet<string>, text: string): boolean {
  const title = [...topicsOf(tool.name)];
  if (title.length === 0 || !title.every((word) => topics.has(word))) return false;
  return wordsOf(tool.name).length > 1 || hasArguments(tool.parameters, text);
}

function hasArguments(parameters: JsonObject, text: string): boolean {
  const hints = createMessageHints(text);
  const properties = asObject(parameters.properties);
  const names = asList(parameters.required).flatMap((name) => asText(name) ?? []);
  const found = new Set(names.map((name) => takeHint(hints, name, asObject(properties[name]))));
  return found.size === names.length && !found.has(undefined);
}

function takeHint(hints: ValueHints, name: string, schema: JsonObject): unknown {
  const [value] = hints.find(name, schema);
  if (value !== undefined) hints.onTaken(value);
  return value;
}

/** Most of what the text is about is in the first sentence of the description. */
function isDescribed({ name, description }: Tool, topics: ReadonlySet<string>): boolean {
  const sentence = description.slice(0, DESCRIPTION_CHARS_MAX).split(/[.\n]/)[0] ?? '';
  const own = topicsOf(`${name} ${sentence}`);
  const common = [...topics].filter((word) => own.has(word)).length;
  return common >= COMMON_TOPICS_MIN && common / topics.size >= COMMON_SHARE_MIN;
}
