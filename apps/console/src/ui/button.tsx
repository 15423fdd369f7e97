import type { ComponentProps, ReactNode } from 'react';
import { Tooltip } from './tooltip.tsx';

interface ButtonProps extends ComponentProps<'button'> {
  /** `primary` for the one main action of a page or dialog, `danger` for what cannot be undone, `quiet` for what is on the side. */
  readonly kind?: 'primary' | 'secondary' | 'quiet' | 'danger';
}

export function Button({
  kind = 'secondary',
  className = '',
  type = 'button',
  ...rest
}: ButtonProps) {
  return <button type={type} className={`button button-${kind} ${className}`} {...rest} />;
}

interface IconButtonProps extends ComponentProps<'button'> {
  /** For screen readers, and shown on hover and focus. */
  readonly label: string;
  readonly children: ReactNode;
}

/** A button with only an icon. */
export function IconButton({ label, className = '', children, ...rest }: IconButtonProps) {
  return (
    <Tooltip text={label}>
      <button
        type="button"
        aria-label={label}
        className={`button button-icon ${className}`}
        {...rest}
      >
        {children}
      </button>
    </Tooltip>
  );
}
