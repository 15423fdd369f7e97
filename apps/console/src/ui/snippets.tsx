import { Tabs } from '@base-ui/react/tabs';
import { CodeBlock } from './code-block.tsx';
import type { Snippet } from './code-snippets.ts';

/** The same request in several languages. */
export function Snippets({ snippets }: { readonly snippets: readonly Snippet[] }) {
  return (
    <Tabs.Root defaultValue={snippets[0]?.name ?? ''} className="snippets">
      <Tabs.List className="tabs">
        {snippets.map(({ name }) => (
          <Tabs.Tab key={name} value={name} className="tab">
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {snippets.map(({ name, code }) => (
        <Tabs.Panel key={name} value={name}>
          <CodeBlock label={name} code={code} />
        </Tabs.Panel>
      ))}
    </Tabs.Root>
  );
}
