import * as accessibleName from './accessible-name.ts';
import * as accessibleTree from './accessible-tree.ts';
import * as composedTree from './composed-tree.ts';
import * as editing from './editing.ts';
import * as elementRefs from './element-refs.ts';
import * as findElements from './find-elements.ts';
import * as hitTest from './hit-test.ts';
import * as inspection from './inspection.ts';
import * as scriptMethods from './script-methods.ts';
import * as pageText from './page-text.ts';
import * as press from './press.ts';
import * as quiet from './quiet.ts';
import * as readiness from './readiness.ts';
import * as role from './role.ts';
import * as states from './states.ts';
import * as visibility from './visibility.ts';
import * as waiting from './waiting.ts';

const MODULES = [
  accessibleName,
  accessibleTree,
  composedTree,
  editing,
  elementRefs,
  findElements,
  hitTest,
  inspection,
  scriptMethods,
  pageText,
  press,
  quiet,
  readiness,
  role,
  states,
  visibility,
  waiting,
];

/**
 * The functions of this folder as one expression; its value has those that are called from outside. It contains every export of
 * the modules: functions as their source, the table of methods by name, everything else as JSON.
 */
export const scriptSource: string = [
  '(() => {',
  ...MODULES.flatMap((module) => Object.entries(module)).map(declaration),
  'return { callScript, elementOf, issuedRefOf, listenForPresses, pointInParent };',
  '})()',
].join('\n');

function declaration([name, value]: readonly [string, unknown]): string {
  if (typeof value === 'function') return String(value);
  if (value === elementRefs.elementRefs) return `const ${name} = createElementRefs();`;
  if (value === press.expectedPress) return `const ${name} = createExpectedPress();`;
  if (value === scriptMethods.scriptMethods) {
    const methods = Object.entries(scriptMethods.scriptMethods).map(
      ([key, run]) => `${key}: ${run.name}`,
    );
    return `const ${name} = { ${methods.join(', ')} };`;
  }
  return `const ${name} = ${JSON.stringify(value)};`;
}

/** The text of a call; `scripts` is an expression for the scripts object. */
export function scriptCall(
  scripts: string,
  method: keyof scriptMethods.ScriptMethods,
  parameters: object,
  next: number,
): string {
  return `${scripts}.callScript(${JSON.stringify(method)}, ${JSON.stringify(parameters)}, ${next})`;
}
