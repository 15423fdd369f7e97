import { CopyButton } from './copy-button.tsx';

interface CodeBlockProps {
  readonly label: string;
  readonly code: string;
  /** Whether long lines are broken instead of scrolled. */
  readonly wraps?: boolean;
}

/** A text to copy. */
export function CodeBlock({ label, code, wraps = false }: CodeBlockProps) {
  return (
    <div className={wraps ? 'code-block code-block-wraps' : 'code-block'}>
      <div className="code-block-copy">
        <CopyButton text={code} />
      </div>
      <pre tabIndex={0} aria-label={label}>
        <code>{code}</code>
      </pre>
    </div>
  );
}
