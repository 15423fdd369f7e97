import type { RpcMethodName } from '@model-gateway/contracts';

/** What is wrong with a form, by the path of the field. */
export type FormProblems = Readonly<Record<string, string>>;

/** Checks params with the schema of their method, in the words of the service. Its code is loaded with the first form that is sent. */
export async function problemsIn(method: RpcMethodName, params: unknown): Promise<FormProblems> {
  const { parsedRequest, problemText, rpcMethods } = await import('@model-gateway/contracts');
  const { error } = parsedRequest(rpcMethods[method].params, params);
  const found: Record<string, string> = {};
  for (const issue of error?.issues ?? []) found[issue.path.join('.')] ??= problemText(issue);
  return found;
}

/** The problem of a field, or of one of its entries, whose path is such as `models.0`. */
export const problemAt = (problems: FormProblems, name: string): string | undefined =>
  problems[name] ?? Object.entries(problems).find(([path]) => path.startsWith(`${name}.`))?.[1];

/** A problem as a sentence. */
export function problemSentence(text: string): string {
  if (text.startsWith('required')) return 'Required.';
  const sentence = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
