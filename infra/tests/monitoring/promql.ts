import { parser } from '@prometheus-io/lezer-promql';

/** A metric in an expression, with the labels of its matchers. */
export interface Selected {
  readonly metric: string;
  readonly labels: readonly string[];
}

/** The metrics of an expression; fails if it is not valid PromQL. */
export function selectedBy(expression: string): readonly Selected[] {
  const selected: { metric: string; labels: string[] }[] = [];
  const text = (node: { readonly from: number; readonly to: number }): string =>
    expression.slice(node.from, node.to);
  parser.parse(expression).iterate({
    enter(node) {
      if (node.type.isError) throw new Error(`not PromQL at ${node.from}: ${expression}`);
      if (node.name === 'Identifier' && node.node.parent?.name === 'VectorSelector')
        selected.push({ metric: text(node), labels: [] });
      if (node.name === 'LabelName' && node.node.parent?.name === 'UnquotedLabelMatcher')
        selected.at(-1)?.labels.push(text(node));
    },
  });
  return selected;
}
