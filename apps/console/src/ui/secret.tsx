import { CopyButton } from './copy-button.tsx';

/** A secret that is shown once, ready to copy. */
export function Secret({ text }: { readonly text: string }) {
  return (
    <div className="secret">
      <code>{text}</code>
      <CopyButton text={text} isLarge />
    </div>
  );
}
