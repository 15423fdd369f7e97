import { z } from 'zod';
import type { DomElement } from '../engine.ts';
import { command, READING, runCall, type CommandData } from './command.ts';
import { domParams } from './params.ts';

const TOOL_CHARS_DEFAULT = 8_000;

export const dom = command({
  name: 'dom',
  http: { method: 'GET', path: '/dom' },
  inBatch: true,
  aliases: { target: 'selector', ref: 'selector', uid: 'selector' },
  params: domParams,
  tool: {
    name: 'browser_dom',
    title: 'DOM',
    description: 'Markup, attributes and styles of elements',
    fields: ['selector', 'attribute', 'all', 'computed', 'html', 'maxChars'],
    listedDefaults: ['all', 'computed', 'html', 'maxChars'],
    overrides: {
      selector: z.string().min(1),
      computed: z.boolean().default(false),
      maxChars: domParams.shape.maxChars.default(TOOL_CHARS_DEFAULT),
    },
    annotations: READING,
    text: domText,
  },
  run({ computed, ...params }, context) {
    const { attribute } = params;
    return runCall(context, 'dom', {}, async (engine, call) => {
      const request = { ...params, computed: parseComputed(computed) };
      const { count, matches, truncated } = await engine.dom(request, call);
      const [first] = matches;
      return {
        count,
        ...(first === undefined ? {} : elementData(first, attribute)),
        ...(params.all ? { matches: matches.map((each) => elementData(each, attribute)) } : {}),
        truncated,
      };
    });
  },
});

function parseComputed(computed: boolean | string): boolean | readonly string[] {
  if (typeof computed === 'boolean') return computed;
  if (computed === '' || computed === 'false' || computed === '0') return false;
  if (computed === 'true' || computed === '1') return true;
  return computed.split(',').map((name) => name.trim());
}

function elementData(
  { value, ...element }: DomElement,
  attribute: string | undefined,
): CommandData {
  return { ...element, ...(attribute === undefined ? {} : { attribute, value }) };
}

/** The result as text for a model. */
function domText(
  data: CommandData,
  {
    selector,
    attribute,
    all,
  }: { selector?: string | undefined; attribute?: string | undefined; all: boolean },
): string {
  const count = Number(data['count']);
  const what = selector ?? 'the document';
  if (count === 0) return `No element matches ${what}`;
  const shown = (all ? data['matches'] : [data]) as readonly DomElement[];
  const lines = shown.map((element) => {
    if (attribute !== undefined)
      return `[ref=${element.ref}] ${attribute}=${JSON.stringify(element.value)}`;
    const styles = element.computed === undefined ? '' : `\n${JSON.stringify(element.computed)}`;
    const hidden = element.visible ? '' : ' (not visible)';
    return `[ref=${element.ref}]${hidden} ${element.html ?? element.text}${styles}`;
  });
  const cut = data['truncated'] === true ? '\n… truncated' : '';
  return `${count} ${count === 1 ? 'element matches' : 'elements match'} ${what}\n${lines.join('\n')}${cut}`;
}
