import { Button as BaseButton } from '@base-ui/react/button';
import type { ComponentProps, ReactNode } from 'react';
import { useTooltip } from './use-tooltip.tsx';

type BaseProps = Omit<ComponentProps<typeof BaseButton>, 'className'>;

interface ButtonProps extends BaseProps {
  /** `primary` for the one main action of a page or dialog, `danger` for what cannot be undone. */
  readonly kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  readonly className?: string;
}

export function Button({ kind = 'plain', className = '', type = 'button', ...rest }: ButtonProps) {
  return <BaseButton type={type} className={`button button-${kind} ${className}`} {...rest} />;
}

interface IconButtonProps extends BaseProps {
  /** For screen readers, and shown on hover and focus. */
  readonly label: string;
  readonly children: ReactNode;
}

/** A button with only an icon. */
export function IconButton({ label, children, ...rest }: IconButtonProps) {
  const { trigger, popup } = useTooltip(label);
  return (
    <>
      <BaseButton
        type="button"
        aria-label={label}
        className="button button-icon"
        {...trigger}
        {...rest}
      >
        {children}
      </BaseButton>
      {popup}
    </>
  );
}
