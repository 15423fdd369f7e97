import { ACTING, command, runCall, ELEMENT_ALIASES } from './command.ts';
import { evaluateParams } from './params.ts';

const TEXT_CHARS_MAX = 20_000;

export const evaluate = command({
  name: 'evaluate',
  http: { method: 'POST', path: '/evaluate' },
  inBatch: true,
  aliases: {
    ...ELEMENT_ALIASES,
    expression: 'function',
    script: 'function',
    code: 'function',
    javascript: 'function',
  },
  params: evaluateParams,
  tool: {
    name: 'browser_evaluate',
    title: 'Evaluate',
    description: 'Run a function(element?, ...args) or expression in the page',
    fields: ['function', 'target', 'args', 'timeoutMs'],
    unlisted: ['dialog', 'promptText'],
    listedDefaults: ['timeoutMs'],
    annotations: ACTING,
    text({ result, type }) {
      if (type === 'undefined') return 'undefined';
      const json = JSON.stringify(result, undefined, 1) ?? 'undefined';
      if (json.length <= TEXT_CHARS_MAX) return json;
      return `${json.slice(0, TEXT_CHARS_MAX)}… (${json.length - TEXT_CHARS_MAX} more characters)`;
    },
  },
  run: (params, context) =>
    runCall(context, 'evaluate', params, async (engine, call) => ({
      ...(await engine.evaluate(params, call)),
    })),
});
