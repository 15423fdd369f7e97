import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useLanguage } from '../preferences/language.tsx';
import { Button, IconButton } from './button.tsx';

interface CopyButtonProps {
  readonly text: string;
  /** Shows the word beside the icon. */
  readonly isLarge?: boolean;
}

const SHOWN_MS = 2000;

/** Copies a text, and says so. */
export function CopyButton({ text, isLarge = false }: CopyButtonProps) {
  const { t } = useLanguage();
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const label = isCopied ? t('action.copied') : t('action.copy');
  const icon = isCopied ? <Check aria-hidden size={14} /> : <Copy aria-hidden size={14} />;
  const copy = (): void => {
    void copyText(text).then(() => setCopied(true));
  };
  return (
    <>
      {isLarge ? (
        <Button onClick={copy}>
          {icon} {label}
        </Button>
      ) : (
        <IconButton label={label} onClick={copy}>
          {icon}
        </IconButton>
      )}
      <span className="visually-hidden" role="status">
        {isCopied ? t('action.copied') : ''}
      </span>
    </>
  );
}

/** The clipboard needs https or this machine; elsewhere a selected field is copied. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'visually-hidden';
  document.body.append(field);
  field.select();
  // The only way without a secure context.
  // oxlint-disable-next-line typescript/no-deprecated
  document.execCommand('copy');
  field.remove();
}
