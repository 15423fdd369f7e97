import type { ComponentProps, ReactNode } from 'react';
import { useTooltip } from './use-tooltip.tsx';

interface ButtonProps extends ComponentProps<'button'> {
  /** `primary` for the one main action of a page or dialog, `danger` for what cannot be undone. */
  readonly kind?: 'primary' | 'plain' | 'danger' | 'quiet';
}

export function Button({ kind = 'plain', className = '', type = 'button', ...rest }: ButtonProps) {
  return <button type={type} className={`button button-${kind} ${className}`} {...rest} />;
}

interface IconButtonProps extends ComponentProps<'button'> {
  /** For screen readers, and shown on hover and focus. */
  readonly label: string;
  readonly children: ReactNode;
}

/** A button with only an icon. */
export function IconButton({ label, children, ...rest }: IconButtonProps) {
  const { trigger, popup } = useTooltip(() => label);
  return (
    <>
      <button
        type="button"
        aria-label={label}
        className="button button-icon"
        {...trigger}
        {...rest}
      >
        {children}
      </button>
      {/* What it opened is in that place. */}
      {rest['aria-expanded'] === true ? null : popup}
    </>
  );
}
