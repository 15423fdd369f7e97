import { ServiceError, type FunctionTool } from '@model-gateway/contracts';
import { fieldOf, listField, present, textField } from '../turn/fields.ts';

/** The tools of a request. */
export interface OfferedTools {
  readonly tools: readonly FunctionTool[];
  /** The tools for an upstream of this API, as the client wrote them, without what was left out. */
  readonly given: readonly object[];
  /** The names of tools that only the provider of this API defines. */
  readonly left: ReadonlySet<string>;
  /** What was left out, for the client. */
  readonly ignored: readonly string[];
  /** What only an upstream of this API gets. */
  readonly lost: readonly string[];
}

/** Fields that say how a provider loads or runs a tool. */
const IGNORED_FIELDS = ['defer_loading', 'allowed_callers', 'eager_input_streaming'];

/** Tools without a schema that the client runs, and that need no flag. Earlier versions of them do. */
const RUN_BY_CLIENT = /^(?:bash|text_editor)_2025\d{4}$/;

/** Reads the tools: functions are translated, tools that run at the provider are left out and named. */
export function toolsOf(offered: readonly object[]): OfferedTools {
  const tools: FunctionTool[] = [];
  const given: object[] = [];
  const left = new Set<string>();
  const ignored = new Set<string>();
  const lost = new Set<string>();
  offered.forEach((tool, at) => {
    const type = textField(tool, 'type') ?? 'custom';
    const name = textField(tool, 'name');
    if (type !== 'custom') {
      left.add(name ?? type);
      if (!RUN_BY_CLIENT.test(type)) ignored.add(type);
      else {
        lost.add(type);
        given.push(withoutIgnored(tool, ignored));
      }
      return;
    }
    const schema = fieldOf(tool, 'input_schema');
    if (!name || typeof schema !== 'object' || schema === null) {
      throw new ServiceError('invalid_request', `tools.${at}: needs a name and an input_schema`);
    }
    given.push(withoutIgnored(tool, ignored));
    tools.push({
      name,
      parameters: Object.fromEntries(Object.entries(schema)),
      ...present({
        description: descriptionOf(tool),
        strict: fieldOf(tool, 'strict') === true ? true : undefined,
      }),
    });
  });
  return { tools, given, left, ignored: [...ignored], lost: [...lost] };
}

/** A function has no field for examples, so that its description has them. */
function descriptionOf(tool: object): string | undefined {
  const description = textField(tool, 'description');
  const examples = listField(tool, 'input_examples');
  if (examples.length === 0) return description;
  const shown = ['Examples of the input:', ...examples.map((example) => JSON.stringify(example))];
  return [...(description === undefined ? [] : [description, '']), ...shown].join('\n');
}

function withoutIgnored(tool: object, ignored: Set<string>): object {
  for (const field of IGNORED_FIELDS) {
    if (fieldOf(tool, field) !== undefined) ignored.add(`tools.${field}`);
  }
  const kept = Object.entries(tool).filter(([field]) => !IGNORED_FIELDS.includes(field));
  return Object.fromEntries(kept);
}
